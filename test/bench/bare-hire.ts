import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '1 minute' });

/** As many activities and signals as a hire has, and nothing in them. */
export async function bareHire({ activities, signals }: { activities: number; signals: number }): Promise<void> {
  let heard = 0;
  setHandler(defineSignal('hint'), () => {
    heard += 1;
  });
  for (let done = 0; done < activities; done += 1) await nothing();
  await condition(() => heard >= signals);
}
