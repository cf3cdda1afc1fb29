// A rolling upgrade from an earlier commit:
// npm run test:upgrade -- [--from COMMIT] [--hires N] [--store sqlite|postgres] [--rows OLD_DELIVERIES] [--back]
// --back: from the last version without the newest change of the tables, which then takes everything over again.
import { parseArgs } from 'node:util';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { startDevServer } from '../../src/temporal/dev-server/dev-server.ts';
import { resolveTemporalCli, showCliProgress } from '../../src/temporal/dev-server/resolve-cli.ts';
import { BASE_COMMIT, checkOutBase, versionBefore } from './check-out-base.ts';
import { faultsOf, faultsOfReturn } from './judge-upgrade.ts';
import { upgrade } from './upgrade.ts';

const { values } = parseArgs({
  options: {
    from: { type: 'string' },
    back: { type: 'boolean', default: false },
    hires: { type: 'string', default: '200' },
    store: { type: 'string', default: 'sqlite' },
    rows: { type: 'string', default: '0' },
  },
});

async function main(): Promise<void> {
  const hires = Number(values.hires);
  const from = values.from ?? (values.back ? await versionBefore() : BASE_COMMIT);
  if (from === undefined)
    throw new Error('The newest change of the tables does more than add, or is older than this clone.');
  const base = await checkOutBase(from);
  if (base === undefined)
    throw new Error(`Commit ${from} is not in this clone. Fetch its history: git fetch --unshallow`);
  const { path } = await resolveTemporalCli({ onProgress: showCliProgress() });
  const temporal = await startDevServer({ cliPath: path, headless: true });
  const postgres = values.store === 'postgres' ? await startPostgres() : undefined;
  try {
    const upgraded = await upgrade({
      temporalAddress: temporal.address,
      baseMain: base.main,
      hires,
      rows: Number(values.rows),
      ...(postgres === undefined ? {} : { storeUrl: await newDatabase(postgres.url) }),
    });
    const faults = [...faultsOf(upgraded, hires), ...(values.back ? faultsOfReturn(upgraded) : [])];
    process.stdout.write(`${JSON.stringify(upgraded, null, 2)}\n`);
    process.stdout.write(faults.length === 0 ? 'upgraded: nothing lost, nothing twice\n' : `${faults.join('\n')}\n`);
    process.exitCode = faults.length === 0 ? 0 : 1;
  } finally {
    await Promise.all([temporal.stop(), postgres?.stop(), base.remove()]);
  }
}

await main();
