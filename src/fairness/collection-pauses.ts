import { PerformanceObserver } from 'node:perf_hooks';

/** Reports each pause of this thread by V8's garbage collector: begin and duration in ms. The result ends the reports. */
export function watchCollections(tell: (began: number, ms: number) => void): () => void {
  const observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) tell(startTime, duration);
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}
