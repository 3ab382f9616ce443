/** What src/ needs beside the public interface; no part of it. */
export { type BeneathRequest, type BeneathResult, openBeneath } from './open-beneath.js';
