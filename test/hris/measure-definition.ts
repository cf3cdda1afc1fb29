/**
 * What a hire costs by a definition, beside the kind that is written by hand: BambooHR by both, in turn, each against a
 * double in a process of its own. A hire is looked up by reference, e-mail, and name and birth date, made, changed and
 * read. Exits with 1 where the definition takes more than 1.3 times the CPU.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { API_KEY } from '../../src/counterparts/bamboohr-double.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { spawnTied } from '../../src/temporal/dev-server/spawn-tied.ts';
import { openBamboohr } from './bamboohr-under-test.ts';
import { created, employee, signal, write } from './profile.ts';

const HIRES = 60;
const ROUNDS = 9;
const MOST_TIMES = 1.3;

const file = fileURLToPath(new URL('definitions/bamboohr.yaml', import.meta.url));
const text = await readFile(file, 'utf8');
const kinds = {
  'by hand': (url: string) => openBamboohr(url),
  'by a definition': (url: string) =>
    openHris('http', 'test-hr', { url, definition: { file, text }, apiKey: API_KEY, allowPrivateAddress: true }),
};

const used: Record<string, number[]> = {};
for (let round = 0; round < ROUNDS; round += 1)
  for (const [kind, open] of Object.entries(kinds)) (used[kind] ??= []).push(await measure(open));
const [hand = 0, defined = 0] = Object.values(used).map(median);
const times = defined / hand;
process.stdout.write(
  `CPU a hire, median of ${ROUNDS} rounds of ${HIRES}: by hand ${hand.toFixed(2)} ms, ` +
    `by a definition ${defined.toFixed(2)} ms (${times.toFixed(2)} times; asked: at most ${MOST_TIMES})\n`,
);
if (times > MOST_TIMES) process.exitCode = 1;

/** CPU of this process, ms a hire, at an empty company. */
async function measure(open: (url: string) => Promise<HrisConnection>): Promise<number> {
  const double = spawnTied(process.execPath, [fileURLToPath(new URL('bamboohr-process.ts', import.meta.url))]);
  const [line] = (await once(double.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const hris = await open(line.toString().trim());
  await hire(hris, `${HIRES}`);
  const before = process.cpuUsage();
  for (let n = 0; n < HIRES; n += 1) await hire(hris, `${n}`);
  const { user, system } = process.cpuUsage(before);
  await hris.close();
  double.kill();
  return (user + system) / 1_000 / HIRES;
}

async function hire({ employees }: HrisConnection, tag: string): Promise<void> {
  // Few were born on one day.
  const born = new Date(Date.UTC(1970, 0, 1 + Number(tag) * 97)).toISOString().slice(0, 10);
  const fields = employee(tag, { country: 'AU', birthDate: born });
  const { givenName, familyName, birthDate, email } = fields as Record<string, string>;
  await employees.find({ by: 'reference', value: `27:${tag}` }, signal);
  await employees.find({ by: 'email', value: email ?? '' }, signal);
  const person = { givenName: givenName ?? '', familyName: familyName ?? '', birthDate: birthDate ?? '' };
  await employees.find({ by: 'person', ...person }, signal);
  const { id } = created(await employees.create(fields, `27:${tag}`, write));
  await employees.update(id, { title: 'Chef' }, write);
  await employees.read(id, signal);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
