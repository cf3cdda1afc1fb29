import { decide } from '../../src/hire/answers.ts';
import type { Decisions } from '../../src/hire/decisions.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { answersOf } from '../../src/store/holds.ts';
import type { Store } from '../../src/store/open-store.ts';

/** Read from the answered holds each time, so that an answer outlives every workflow. */
export async function readDecisions(store: Store, ref: HireRef): Promise<Decisions> {
  return decide(await answersOf(store, ref));
}
