import { PerformanceObserver } from 'node:perf_hooks';

/** Tells of each pause of this thread by V8's garbage collector: when it began and how long it took, in ms. The result ends it. */
export function watchCollections(tell: (began: number, ms: number) => void): () => void {
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) tell(startTime, duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}
