import { within } from '../within.ts';
import { type Delivery, insertDeliveries, insertDelivery, nameOfDelivery, weightOf } from './inbox.ts';
import type { Store } from './open-store.ts';

/** Statements that run at the same time. */
const AT_ONCE = 2;
/** Deliveries in one statement, and characters of their bodies: a large delivery goes alone. */
const MOST = { deliveries: 100, characters: 1_000_000 };
/** A statement that takes longer is no longer counted as running; the connection pool limits a database that hangs. */
const SLOW_MS = 5_000;

interface Waiting {
  delivery: Delivery;
  stored: (outcome: { fresh: boolean }) => void;
  failed: (error: unknown) => void;
}

/**
 * Commits deliveries as they arrive. Deliveries that arrive while statements run share the next statement and its wait
 * for the disk: in a burst the store does a tenth of the work, while a lone delivery waits for nothing. A delivery
 * whose `signal` aborts before its statement began is dropped.
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

/** If the batch cannot be stored together, stores each delivery alone, so that one refused delivery fails no other. */
async function commitTogether(store: Store, batch: readonly Waiting[]): Promise<void> {
  try {
    const fresh = await insertDeliveries(
      store,
      batch.map(({ delivery }) => delivery),
    );
    // The batch may hold the same body twice: only the first copy is reported as fresh.
    for (const { delivery, stored } of batch) stored({ fresh: fresh.delete(nameOfDelivery(delivery)) });
  } catch (error) {
    if (batch.length === 1) batch[0]?.failed(error);
    else
      await Promise.all(
        batch.map(({ delivery, stored, failed }) => insertDelivery(store, delivery).then(stored, failed)),
      );
  }
}
