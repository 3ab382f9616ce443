/** Returns a folder with the plugin under the name of a backend, for LOREKEEP_BACKENDS. Default: vulkan. */
export function standInFolder(folder: string, backend?: string): string;
