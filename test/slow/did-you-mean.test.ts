import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import { expect, test } from 'vitest';
import { applyDefinitions } from '../../src/store/applied-tenants.ts';
import { openHold } from '../../src/store/holds.ts';
import { openStore } from '../../src/store/open-store.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { scratchDir, tenantDir } from '../cli/cli-process.ts';
import { runCommand } from '../harness/run-command.ts';
import { temporalForTests } from '../harness/temporal.ts';

/** Commands whose first argument is a tenant that must be there, as the reference lists them. */
async function commandsOfTenants(): Promise<string[][]> {
  const page = await readFile(join(import.meta.dirname, '../../docs/reference.md'), 'utf8');
  const found = [...page.matchAll(/^### `hirebridge ([a-z- ]+) [<[]tenant[\]>](.*)`$/gm)];
  return found
    .map(([, name = '', rest = '']) => [...name.split(' '), 'acne', ...(OTHERS[name] ?? required(rest))])
    .filter(([name]) => !NEW.has(name ?? ''));
}

/** `init` names a tenant that is not there yet. */
const NEW = new Set(['init']);
const OTHERS: Record<string, string[]> = {
  replay: ['--since', '1h'],
  'events replay': ['--since', '1h'],
  revert: ['--mapping', '0123abcd'],
  'tenant go-live': ['--since', '2026-01-01'],
  'person export': ['17', '--out', 'person.json'],
  'person erase': ['17', '--employee', 'keep', '--reason', 'asked', '--yes'],
  'person hold': ['17', '--reason', 'asked'],
};

/** One word for each argument that must be there. */
function required(rest: string): string[] {
  return [...rest.matchAll(/<[\w.]+>/g)].map(() => '17');
}

async function applied() {
  const [{ address }, tenants, data] = await Promise.all([temporalForTests(), tenantDir(), scratchDir()]);
  const store = await openStore(`sqlite:${join(data, 'store.db')}`);
  const { applications } = await planApplication(store, tenants, { secrets: 'skip' });
  await applyDefinitions(store, applications, 'test');
  const hold = { tenantId: 'acme', code: 'AMENDMENTS', message: 'Some changed.', answers: ['apply', 'keep'] };
  const { holdId } = await openHold(store, hold);
  await store.close();
  const places = ['--tenants', tenants, '--data', data];
  const inTurn = pLimit(1);
  const run = async (args: string[]) => {
    const { code, stdout, stderr } = await inTurn(() =>
      runCommand([...args, ...places], { TEMPORAL_ADDRESS: address }),
    );
    return { code, output: stdout + stderr };
  };
  return { holdId, run };
}

test('whoever mistypes a tenant is told the one that may be meant, by every command that takes one', async () => {
  const { run } = await applied();
  const commands = [
    ...(await commandsOfTenants()),
    ...['hold list', 'hire list', 'inbox list'].map((name) => [...name.split(' '), '--tenant', 'acne']),
  ];
  expect(commands.length).toBeGreaterThan(25);
  const told = await Promise.all(
    commands.map(async (args) => {
      const { code, output } = await run(args);
      return `${args.join(' ')}: ${code}, ${output.includes('Did you mean "acme"?') ? 'named' : output}`;
    }),
  );
  expect(told.filter((line) => !line.endsWith(': 2, named'))).toEqual([]);
});

test('a stream, a hold, its reason and its answer are guessed, too', async () => {
  const { run, holdId } = await applied();
  const mistyped = `${holdId.slice(0, -1)}${holdId.endsWith('0') ? '1' : '0'}`;
  const cases: [string[], string][] = [
    [['sync', 'acme', 'jbos'], 'jobs'],
    [['plan', 'acme', 'candidate'], 'candidates'],
    [['pause', 'acme', 'jbos'], 'jobs'],
    [['retry', 'acme', 'candidats'], 'candidates'],
    [['explain', 'acme', '17', '--stream', 'jobz'], 'jobs'],
    [['hold', 'show', mistyped], holdId],
    [['hold', 'answer', holdId, 'aply'], 'apply'],
    [['hold', 'answer', '--all', 'AMENDMENT', 'keep'], 'AMENDMENTS'],
  ];
  for (const [args, meant] of cases) {
    const { code, output } = await run(args);
    expect([args, code, output]).toEqual([args, 2, expect.stringContaining(`Did you mean "${meant}"?`)]);
  }
});
