/** Preloaded into a process whose clock is set back by a minute and forth again, every twenty seconds. */
const SHIFT_MS = -60_000;
const EVERY_MS = 20_000;

const RealDate = Date;

function shiftedNow(): number {
  const isShifted = Math.floor(performance.now() / EVERY_MS) % 2 === 1;
  return RealDate.now() + (isShifted ? SHIFT_MS : 0);
}

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [shiftedNow()] : args, newTarget) as Date,
  apply: () => new RealDate(shiftedNow()).toString(),
  get: (target, name) => (name === 'now' ? shiftedNow : (Reflect.get(target, name) as unknown)),
});
