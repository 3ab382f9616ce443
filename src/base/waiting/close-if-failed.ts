/** Runs work on a resource, and closes the resource if the work fails. @throws errors of `work()` */
export async function closeIfFailed<T>(
  resource: { close(): Promise<void> },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await resource.close();
    throw error;
  }
}
