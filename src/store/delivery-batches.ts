import { within } from '../within.ts';
import { type Delivery, insertDeliveries, insertDelivery, nameOfDelivery, weightOf } from './inbox.ts';
import type { Store } from './open-store.ts';

/** Statements under way at once. */
const AT_ONCE = 2;
/** Deliveries a statement, and characters of their bodies: a large one goes alone. */
const MOST = { deliveries: 100, characters: 1_000_000 };
/** A statement that takes longer no longer counts as under way: a database that hangs is the pool's to bound. */
const SLOW_MS = 5_000;

interface Waiting {
  delivery: Delivery;
  stored: (outcome: { fresh: boolean }) => void;
  failed: (error: unknown) => void;
}

/**
 * Commits deliveries as they come. Whoever comes while statements are under way shares the next one, and with it the
 * wait for the disk: in a burst the store does a tenth of the work, and one that comes alone waits for nobody. Whose
 * `signal` aborts before its statement began is forgotten.
 */
export function createDeliveryBatches(
  store: Store,
): (delivery: Delivery, signal?: AbortSignal) => Promise<{ fresh: boolean }> {
  const waiting: Waiting[] = [];
  let underWay = 0;

  function next(): void {
    if (underWay === AT_ONCE || waiting.length === 0) return;
    underWay += 1;
    void within(SLOW_MS, commitTogether(store, takeSome(waiting))).finally(() => {
      underWay -= 1;
      next();
    });
  }

  return (delivery, signal) =>
    new Promise((stored, failed) => {
      const one = { delivery, stored, failed };
      signal?.addEventListener('abort', () => forget(waiting, one, signal.reason), { once: true });
      waiting.push(one);
      next();
    });
}

function forget(waiting: Waiting[], one: Waiting, reason: unknown): void {
  const place = waiting.indexOf(one);
  if (place === -1) return;
  waiting.splice(place, 1);
  one.failed(reason);
}

function takeSome(waiting: Waiting[]): Waiting[] {
  let characters = 0;
  const end = waiting.findIndex(({ delivery }, place) => {
    characters += weightOf(delivery);
    return place > 0 && (place === MOST.deliveries || characters > MOST.characters);
  });
  return waiting.splice(0, end === -1 ? waiting.length : end);
}

/** Where they cannot be stored together each is tried by itself: one that the store refuses fails no other. */
async function commitTogether(store: Store, batch: readonly Waiting[]): Promise<void> {
  try {
    const fresh = await insertDeliveries(
      store,
      batch.map(({ delivery }) => delivery),
    );
    // The same body may be among them twice: the first was new.
    for (const { delivery, stored } of batch) stored({ fresh: fresh.delete(nameOfDelivery(delivery)) });
  } catch (error) {
    if (batch.length === 1) batch[0]?.failed(error);
    else
      await Promise.all(
        batch.map(({ delivery, stored, failed }) => insertDelivery(store, delivery).then(stored, failed)),
      );
  }
}
