/** What waits, of several holders: each holder has its turn, and of what is its own the first to come is next. */
export interface Turns<Waiting> {
  add(holder: object, waiting: Waiting): void;
  remove(holder: object, waiting: Waiting): void;
  next(): Waiting | undefined;
  count(): number;
  /** Of all that wait, how many go before what this holder would add now. */
  ahead(holder: object): number;
  takeAll(): Waiting[];
}

export function createTurns<Waiting>(): Turns<Waiting> {
  /** In the order of their turns. */
  const queues = new Map<object, Waiting[]>();
  const count = (): number => [...queues.values()].reduce((sum, { length }) => sum + length, 0);
  return {
    add(holder, waiting) {
      const queue = queues.get(holder) ?? [];
      queue.push(waiting);
      queues.set(holder, queue);
    },
    remove(holder, waiting) {
      const queue = queues.get(holder) ?? [];
      queue.splice(queue.indexOf(waiting), 1);
      if (queue.length === 0) queues.delete(holder);
    },
    next() {
      const [turn] = queues;
      if (turn === undefined) return undefined;
      const [holder, queue] = turn;
      queues.delete(holder);
      const waiting = queue.shift();
      if (queue.length > 0) queues.set(holder, queue);
      return waiting;
    },
    count,
    ahead(holder) {
      const own = queues.get(holder)?.length ?? 0;
      return [...queues.values()].reduce((sum, { length }) => sum + Math.min(length, own + 1), 0);
    },
    takeAll() {
      const all = [...queues.values()].flat();
      queues.clear();
      return all;
    },
  };
}
