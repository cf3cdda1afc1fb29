import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pLimit from 'p-limit';
import { expect, onTestFinished, test } from 'vitest';
import { parseDocument } from 'yaml';
import { commandsOf, readPage, variantsOf } from '../docs/documented.ts';
import { CANNOT, ELSEWHERE, LISTS } from '../docs/played.ts';
import { editTenant } from '../harness/fleet.ts';
import { untilBaseline } from '../harness/hiring.ts';
import { runCommand } from '../harness/run-command.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { startWorld, until, type World } from '../harness/world.ts';
import { emptyFolder, openWalk, playLine } from './play-walk.ts';

test('docs/two-way.md leads from an empty folder to a field that flows', async () => {
  const page = await readPage('docs/two-way.md');
  const heading = '## From an empty folder to a field that flows';
  const commands = commandsOf('docs/two-way.md', page).filter((one) => one.heading === heading);
  const [exchange = '', settings = ''] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, block]) => block ?? '');
  const { cwd, path: PATH } = await emptyFolder();
  const { play } = await openWalk({ cwd, env: { PATH } });
  const began = performance.now();
  const said: string[] = [];
  for (const { line } of commands) {
    // A pair that was just written is left alone for two seconds, as the page says: nobody types faster.
    if (line.includes(' sync ')) await pause(3_000);
    said.push(await play(line));
    if (!line.startsWith('hirebridge init')) continue;
    await writeFile(join(cwd, 'tenants/acme-employees.yaml'), exchange);
    await mergeInto(join(cwd, 'tenants/acme.yaml'), settings);
  }
  console.log(`docs/two-way.md: ${commands.length} commands, ${((performance.now() - began) / 1_000).toFixed(1)} s`);
  const [, fields, conflicts] = [said.join('\n'), said.find((text) => /^Graz/m.test(text)), said.at(-1)];
  expect(said.join('\n')).toContain('done: 1 read, 0 unchanged, 1 updated');
  expect(fields?.trim()).toBe('Graz|A-12');
  expect(conflicts).toMatch(/city +"Wien" +"Linz" +conflict, hris stays/);
});

/** What the page puts into a tenant file that `init` wrote, below the keys that are there. */
async function mergeInto(file: string, yaml: string): Promise<void> {
  const [own, more] = [parseDocument(await readFile(file, 'utf8')), parseDocument(yaml).toJS() as object];
  for (const [key, value] of Object.entries(more) as [string, object][])
    for (const [name, inner] of Object.entries(value)) own.setIn([key, name], inner);
  await writeFile(file, own.toString());
}

/** People whose first day is long past: each of them is a hold that a page's command may answer. */
const HELD = 3;
/** Exit codes that are no failure: something to write, or something that was left out. */
const CODES: readonly (readonly [RegExp, readonly number[]])[] = [
  [/ (plan|revert) /, [0, 2]],
  [/ mapping diff /, [0, 2]],
  [/ --dry-run/, [0, 2]],
  // Asks, and nobody is there to answer.
  [/ link import .*csv$/, [2]],
];

/** Lines that write something. What one of them leaves to be done (a resume to be parsed) must not meet a plan. */
const CHANGES = / (hold answer|hire start|apply|sync|reconcile|pause|retry|replay|freeze|link|revert|-d) /;

test('every command that a page lists does what it says for a tenant that runs', async () => {
  const { address } = await temporalForTests();
  const world = await startWorld({ temporalAddress: address });
  onTestFinished(world.close);
  const stand = await prepare(world);
  const listed = LISTS.flatMap(async (part) => {
    const [page = ''] = part.split(' ', 1);
    const heading = part.slice(page.length + 1);
    const commands = commandsOf(page, await readPage(page)).filter((one) => one.heading === heading);
    return commands.flatMap(({ line }) => variantsOf(line)).filter((one) => !(one in ELSEWHERE) && !(one in CANNOT));
  });
  const lines = (await Promise.all(listed)).flat();
  const looks = [...new Set(lines.filter((line) => !CHANGES.test(`${line} `)))];
  const changes = lines.filter((line) => CHANGES.test(`${line} `));
  const wrong: string[] = [];
  const play = async (line: string): Promise<void> => {
    await stand.play(line).catch((error: unknown) => wrong.push(String(error)));
  };
  const began = performance.now();
  const inTurn = pLimit(3);
  await Promise.all(looks.map((line) => inTurn(() => play(line))));
  // What a plan was made of is as it was.
  for (const line of changes.toSorted((a, b) => Number(/ apply /.test(b)) - Number(/ apply /.test(a))))
    await play(line);
  const seconds = (performance.now() - began) / 1_000;
  console.log(`commands of pages: ${looks.length + changes.length} played, ${seconds.toFixed(1)} s`);
  expect(wrong).toEqual([]);
  expect(looks.length + changes.length).toBeGreaterThan(60);
});

/** A tenant with a hire that is done, holds, landed records and webhooks; and what stands for words in capitals. */
async function prepare(world: World) {
  const { cwd, path: PATH } = await emptyFolder();
  await editTenant(world, (text) => `${text}${STREAMS}`);
  await writeFiles(cwd);
  await world.startReceiver();
  await world.startWorker();
  await untilBaseline(world);
  const [done, ...held] = (await world.applicants()).slice(0, 1 + HELD);
  const past = { customFieldId: world.startDateField, entityType: 'candidate' as const, value: '2020-01-06' };
  await world.partner.customFieldValues.upsertBulk({
    body: held.map(({ candidateId }) => ({ ...past, entityId: String(candidateId) })),
  });
  const ids = [done, ...held].map((one) => one?.jobCandidateId ?? 0);
  await world.control.act('move', { jobCandidateIds: ids, stageType: 'HIRED' });
  const json = async (...args: string[]) => JSON.parse((await world.cli([...args, '--json'])).stdout) as Row[];
  await until('one hire is done and the others wait', async () => {
    await world.finishOnboardings();
    return (
      (await json('hire', 'list', '--state', 'done')).length > 0 &&
      (await json('hold', 'list', '--code', 'START_DATE_PAST')).length >= HELD
    );
  });
  await world.cli(['sync', world.tenant]);
  // What the next plan has to write.
  await world.control.act('setWebhook', { url: null });
  await world.partner.candidates.update({ params: { candidateId: done?.candidateId ?? 0 }, body: { city: 'Graz' } });
  const holds = (await json('hold', 'list', '--code', 'START_DATE_PAST')).map(({ holdId }) => String(holdId));
  const [delivery] = await json('inbox', 'list', '--state', 'relayed');
  const written = await json('audit', world.tenant);
  const latest = written.find(({ mapping }) => mapping !== undefined);
  const { controlUrl: control, url: partner } = world.sandbox;
  const said: string[] = [];
  const standIn = (line: string): string =>
    REPLACED.reduce((text, [pattern, key]) => text.replace(pattern, () => String(facts[key]?.())), line)
      .replace('TENANT', world.tenant)
      .replace('STREAM', 'candidates')
      .replace('REASON ANSWER', 'START_DATE_PAST retry')
      .replace('ANSWER', 'start-in-past')
      .replace('NEW_FILE', 'new.yaml')
      .replace('new.yaml --stream employees', 'exchange.yaml --stream employees')
      .replace('FILE.csv', 'people.csv')
      .replaceAll('http://127.0.0.1:8800/v1/partner', partner)
      .replaceAll('http://127.0.0.1:8801', control);
  const facts: Record<string, () => unknown> = {
    hire: () => done?.jobCandidateId,
    candidate: () => done?.candidateId,
    job: () => done?.jobId,
    // Each is answered once.
    hold: () => holds.shift(),
    shown: () => holds[0],
    delivery: () => delivery?.['delivery'],
    mapping: () => latest?.['mapping'],
    run: () => written.find(({ run }) => run !== undefined)?.['run'],
    plan: () =>
      said.map((text) => /hirebridge apply ([0-9a-f]+)/.exec(text)?.[1]).findLast((hash) => hash !== undefined),
  };
  const env = {
    ...world.env,
    PATH,
    HIREBRIDGE_TENANTS: world.tenantsDir,
    HIREBRIDGE_DATA: world.dataDir,
    CURL_HOME: cwd,
    KEY: world.apiKey,
    API: partner,
  };
  const place = { cwd, env: { ...process.env, ...env } as NodeJS.ProcessEnv };
  /** In a process that is there already, where the line needs no shell. */
  const playHere = async (line: string, codes: readonly number[]): Promise<string> => {
    const [, rest] = /^(?:npm run -s hirebridge --|npx hirebridge|hirebridge) ([^|<>$&;]*)$/.exec(line) ?? [];
    if (rest === undefined) return playLine(line, place, codes);
    const words = [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
    const { code, stdout, stderr } = await runCommand(words, env, cwd);
    if (!codes.includes(code ?? 1)) throw new Error(`${line} ended with ${code}: ${stdout}${stderr}`);
    return stdout + stderr;
  };
  return {
    async play(line: string): Promise<void> {
      const own = standIn(line);
      if (/^[A-Z]+=/.test(own)) return;
      const stays = / (console|sandbox --jobs 3 --candidates 40)$/.test(own);
      const ports = own.endsWith(' console') ? ' --port 0 &' : ' --port 0 --control-port 0 &';
      const codes = CODES.find(([pattern]) => pattern.test(own))?.[1] ?? [0];
      said.push(await (stays ? playLine(`${own}${ports}`, place, codes) : playHere(own, codes)));
      const [, verb, whose] = /hirebridge (?:-- )?(freeze|pause) ?(.*)$/.exec(own) ?? [];
      if (verb !== undefined) await playHere(`hirebridge ${verb === 'freeze' ? 'thaw' : 'resume'} ${whose}`, [0]);
    },
  };
}

/** What the lines name in the folder where they are run. */
async function writeFiles(cwd: string): Promise<void> {
  const upper = 'fields: { city: { from: candidate.city, transform: [upper] } }\n';
  await writeFile(join(cwd, 'new.yaml'), upper);
  await writeFile(
    join(cwd, 'exchange.yaml'),
    'fields: { city: { from: candidate.city, direction: both, owner: hris } }\n',
  );
  await writeFile(join(cwd, '.curlrc'), 'fail-with-body\n');
  await writeFile(join(cwd, 'people.csv'), 'candidateId,employeeId\n');
}

type Row = Record<string, unknown>;

const STREAMS = `streams:
  jobs: { every: 1h }
  candidates: { every: 1h }
`;

/** What stands in a page's line, and which fact stands for it here. Ids of examples count as words in capitals. */
const REPLACED: readonly (readonly [RegExp, string])[] = [
  [/(?<=--one )ID/, 'candidate'],
  [/(?<=explain acme )101(?= --stream jobs)/, 'job'],
  [/(?<=hold show )HOLD/, 'shown'],
  [/(?<=hold answer |--until )HOLD/, 'hold'],
  [/JOB_CANDIDATE_ID|RECORD|\b5012\b|\bID\b/, 'hire'],
  [/DELIVERY/, 'delivery'],
  [/\b9c1d2e3f\b/, 'mapping'],
  [/\b3fa1c09b77de\b/, 'plan'],
  [/\bRUN\b/, 'run'],
];
