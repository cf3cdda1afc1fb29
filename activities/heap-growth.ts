import { setFlagsFromString } from 'node:v8';

/**
 * By how much the heap may grow beyond what lived at the last collection, percent. What a long pass makes is garbage
 * at once: with the little room of a worker at rest it would collect a third of the time.
 */
const PERCENT = { atRest: 30, longPass: 50 };

let isBounded = false;
let passes = 0;

/** V8's own bounds hold for a process that does not ask for this. */
export function boundHeapGrowth(): void {
  isBounded = true;
  setGrowth();
}

export interface HeapRoom {
  /** From now on until the end; again is the same. */
  take(): void;
  giveBack(): void;
}

/** Room for one long pass; it holds while any has it. */
export function createHeapRoom(): HeapRoom {
  let isTaken = false;
  const turn = (taken: boolean): void => {
    if (taken === isTaken) return;
    isTaken = taken;
    passes += taken ? 1 : -1;
    setGrowth();
  };
  return { take: () => turn(true), giveBack: () => turn(false) };
}

function setGrowth(): void {
  if (isBounded) setFlagsFromString(`--heap-growing-percent=${passes > 0 ? PERCENT.longPass : PERCENT.atRest}`);
}
