export {
  createLorekeep,
  type LorekeepProvider,
  type LorekeepProviderSettings,
  lorekeep,
} from './provider.js';
