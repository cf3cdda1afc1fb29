import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startProcess } from '../harness/run-product.ts';
import { startWorld } from '../harness/world.ts';
import { withTemporal } from './bench-world.ts';
import { type Bench, openLedger } from './measured.ts';

const run = promisify(execFile);
const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const NODE = 'node -e 0';

/** From the spawn to the end, or to the moment when a process says that it listens. */
export const start: Bench = {
  name: 'start',
  leavesOut: 'the first start of a clone, which builds the Temporal CLI and bundles the workflows.',
  measure: ({ rounds }) =>
    withTemporal(async (temporalAddress) => {
      const ledger = openLedger('start');
      const world = await startWorld({ temporalAddress });
      const out = createWriteStream('/dev/null');
      const places = ['--tenants', world.tenantsDir, '--data', world.dataDir];
      const ready = (args: string[]) => async (): Promise<void> => (await startProcess(args, world.env, out)).kill();
      const starts: [what: string, goal: object, act: () => Promise<unknown>][] = [
        [NODE, {}, () => run(process.execPath, ['-e', '0'])],
        ['hirebridge --help', { goal: { most: 8 } }, () => run(process.execPath, [MAIN, '--help'])],
        ['sandbox', { goal: { most: 30 } }, ready(['sandbox', '--port', '0', '--control-port', '0'])],
        ['serve', {}, ready(['serve', ...places, '--port', '0', '--health-port', '0'])],
        ['worker', {}, ready(['worker', ...places, '--health-port', '0'])],
      ];
      try {
        for (let round = 0; round < rounds; round += 1)
          for (const [what, goal, act] of starts)
            ledger.add(what, 's', await seconds(act), what === NODE ? {} : { floor: NODE, ...goal });
      } finally {
        await world.close();
      }
      return { measured: ledger.measured() };
    }),
};

async function seconds(act: () => Promise<unknown>): Promise<number> {
  const beganAt = performance.now();
  await act();
  return (performance.now() - beganAt) / 1000;
}
