import { nextSlice, withSlices } from '../base/waiting/next-slice.js';
import type { FairSlots } from '../fairness/fair-slots.js';
import type { LoopScheduler } from '../fairness/loop-scheduler.js';
import type { OperatorShare } from '../operations/http/operator-share.js';

/** Makes a share of the server's event loop and search threads. */
export function operatorShare(loop: LoopScheduler, search: FairSlots): OperatorShare {
  const slices = loop.join({ serve: () => 0, settle: () => {} });
  const slots = search.join();
  return {
    slice: (work) =>
      withSlices(slices, async () => {
        await nextSlice();
        return work();
      }),
    async compute(signal, work) {
      const end = await slots.enter(signal);
      try {
        return await work();
      } finally {
        end();
      }
    },
    leave: () => slices.leave(),
  };
}
