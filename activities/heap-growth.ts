import { setFlagsFromString } from 'node:v8';

/**
 * How far the heap may grow beyond what survived the last collection, in percent. A long pass makes mostly garbage:
 * with the small reserve of a worker at rest, it would spend a third of its time collecting.
 */
const PERCENT = { atRest: 30, longPass: 50 };

let isBounded = false;
let passes = 0;

/** Until a process calls this, V8's own limits apply. */
export function boundHeapGrowth(): void {
  isBounded = true;
  setGrowth();
}

interface HeapRoom {
  /** Takes room until `giveBack`; a second call changes nothing. */
  take(): void;
  giveBack(): void;
}

/** Room for one long pass; the heap keeps it while any pass has taken it. */
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
