import { type RefusalCode, refusal } from './refusals.ts';

/** Counts who is in, and rejects one more than there is room for. */
export interface Room {
  count(): number;
  /** Gives what leaves again. */
  enter(size: number): () => void;
}

export function createRoom(most: { count: number; bytes: number }, full: RefusalCode): Room {
  let count = 0;
  let bytes = 0;
  return {
    count: () => count,
    enter(size) {
      if (count >= most.count || bytes + size > most.bytes) throw refusal(full);
      count += 1;
      bytes += size;
      return () => {
        count -= 1;
        bytes -= size;
      };
    },
  };
}
