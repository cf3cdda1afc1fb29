import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Command } from 'commander';
import { CsvError, parse } from 'csv-parse/sync';
import pLimit from 'p-limit';
import { personOf } from '../../activities/hire/with-hire.ts';
import { isConnectorError, rejected } from '../errors.ts';
import { employeeIn, IMPORTED_PERIOD, isSameEmployee } from '../hire/hire.ts';
import type { HrisConnection } from '../hris/port.ts';
import { count } from '../in-words.ts';
import { createLogger } from '../log.ts';
import { openHris, openPartner } from '../operator/open-tenant.ts';
import { readAppliedTenant } from '../operator/tenants.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import { contract } from '../partner/contract/index.ts';
import { type Candidate, isSameCandidate, type Person } from '../person/person.ts';
import {
  judgeLink,
  type LinkFacts,
  maskName,
  nameOfCandidate,
  nameOfEmployee,
  type PersonName,
} from '../plan/identity-ladder.ts';
import { withEndpoints } from '../rate-limit/kept-rate-limits.ts';
import type { TenantAct } from '../store/applied-tenants.ts';
import type { Store } from '../store/open-store.ts';
import { importLinks } from '../store/people.ts';
import { erasedAmong } from '../store/person-marks.ts';
import { findPerson } from '../store/persons.ts';
import { openRateLimit } from '../store/rate-limits.ts';
import type { Tenant } from '../tenants/schema.ts';
import { type Problem, refuse } from '../yaml/yaml-file.ts';
import { AS, byOf, endRefused, example, type Flags, renderTable, say, sayBeside } from './command.ts';
import { withStore } from './open.ts';
import { isConfirmed } from './prompt.ts';

export const commands = { link: defineLink };

function defineLink(command: Command): void {
  command.description('Link people who are employees already.');
  command
    .command('import')
    .description(
      'Link candidates to employees from a CSV file with the header candidateId,employeeId. Every line is read on ' +
        'both sides and the names must agree; all or nothing is written. After a merge at the hiring platform it ' +
        'moves an employee to the candidate who is left, and back if the merge is undone. Needs no Temporal.',
    )
    .argument('<tenant>', 'tenant whose candidates they are')
    .argument('<file>', 'CSV file')
    .option('--yes', 'link without asking')
    .option('--json', 'print JSON')
    .option(...AS)
    .addHelpText('after', example('hirebridge link import acme employees.csv'))
    .action(runImport);
}

async function runImport(
  tenantId: string,
  file: string,
  options: Flags & { yes?: boolean },
  command: Command,
): Promise<void> {
  const link = async (store: Store): Promise<void> => {
    const plan = await planLinks(store, await readAppliedTenant(store, tenantId), resolve(file));
    const facts = { fresh: plan.fresh, known: plan.known };
    sayBeside(options, renderLinks(plan));
    if (plan.fresh.length === 0) return say(options, { ...facts, linked: 0 }, '');
    if (!(await isConfirmed(options, 'Link them?'))) return endRefused();
    await applyLinks(store, { tenantId, by: byOf(options) }, plan);
    say(options, { ...facts, linked: plan.fresh.length }, 'Linked.\n');
  };
  await withStore(command, link);
}

function renderLinks({ fresh, known }: LinkPlan): string {
  const head = ['candidate', 'employee', 'number', 'name', 'instead of candidate'];
  const rows = fresh.map((one) => [
    one.candidateId,
    one.employeeId,
    one.employeeNumber ?? '-',
    one.name,
    one.insteadOf ?? '-',
  ]);
  const lines = rows.length === 0 ? [] : [renderTable(head, rows)];
  if (known.length > 0) lines.push(`already linked: ${known.join(', ')}`);
  return `${[...lines, `${fresh.length} to link`].join('\n')}\n`;
}

/** What an import would write; every line is verified on both sides. */
type LinkPlan = Awaited<ReturnType<typeof planLinks>>;

const CHUNK = 100;
const AT_ONCE = 4;
const READ_MS = 30_000;

/** Reads both sides of every line; writes nothing. @throws ConnectorError LINKS_UNREADABLE with every problem */
export async function planLinks(store: Store, tenant: Tenant, file: string) {
  const { text, lines } = readLinkFile(file);
  const log = createLogger('command');
  const limited = { tenantId: tenant.tenant, share: tenant.partner.rateLimit?.share };
  const rateLimit = withEndpoints((upstream) => openRateLimit(store, { ...limited, upstream }, log));
  const partner = openPartner(tenant, rateLimit);
  const hris = await openHris(tenant, store, (keeper) => keeper);
  try {
    const candidates = await readCandidates(partner, lines);
    const limit = pLimit(AT_ONCE);
    const read = lines.map((line) => limit(() => verify({ store, tenant, partner, hris, candidates }, line)));
    // For the audit trail: the file's name and fingerprint.
    const source = `${basename(file)}, sha256 ${createHash('sha256').update(text).digest('hex').slice(0, 12)}`;
    return { ...sort(file, await Promise.all(read)), source };
  } finally {
    await Promise.allSettled([partner.close(), hris.close()]);
    await rateLimit.close();
  }
}

/** Writes all links of a plan, or none. @throws ConnectorError LINKS_CHANGED */
export async function applyLinks(store: Store, act: TenantAct, { links, source }: LinkPlan): Promise<void> {
  const details = `${count(links.length, 'employee')} linked from ${source}`;
  if (await importLinks(store, { ...act, details }, links)) return;
  throw rejected(
    'LINKS_CHANGED',
    'One of them was linked or erased meanwhile, so nothing was written. Run it again to see which.',
  );
}

async function readCandidates(
  partner: PartnerClient,
  lines: readonly LinkLine[],
): Promise<ReadonlyMap<string, PersonName>> {
  const found = new Map<string, PersonName>();
  for (let from = 0; from < lines.length; from += CHUNK) {
    const candidateIds = lines.slice(from, from + CHUNK).map(({ candidateId }) => candidateId);
    const { items } = await partner.readAll(
      contract.candidates.bulkFetch,
      { body: { candidateIds } },
      { priority: 'bulk' },
    );
    for (const one of items) found.set(one.id, { id: one.id, name: nameOfCandidate(one) });
  }
  return found;
}

interface Sides {
  store: Store;
  tenant: Tenant;
  partner: PartnerClient;
  hris: HrisConnection;
  candidates: ReadonlyMap<string, PersonName>;
}

type Verified = Awaited<ReturnType<typeof verify>>;

async function verify({ store, tenant, partner, hris, candidates }: Sides, typed: LinkLine) {
  const { connection, candidate } = personOf(tenant, typed.candidateId);
  const record = await hris.employees.read(typed.employeeId, AbortSignal.timeout(READ_MS));
  // As the HR system writes the id: the typed one may differ in case.
  const line = { ...typed, employeeId: record?.ref.id ?? typed.employeeId };
  const employee = employeeIn(connection, line.employeeId);
  const linked = await findPerson(store, { employee });
  const person = await findPerson(store, { connection, candidate });
  const has = linked.employees.find((one) => isSameEmployee(one.employee, employee));
  const isTheirs = linked.id === person.id;
  // An import after a merge moved the employee to another candidate, and the merge was undone since.
  const isUndone = isTheirs && has?.hire.period === IMPORTED_PERIOD && !isSameCandidate(has.candidate, candidate);
  const isMerged = isUndone || (!isTheirs && (await isGone(partner, linked.candidates, candidate)));
  const facts: LinkFacts = {
    candidate: candidates.get(line.candidateId),
    employee: record === undefined ? undefined : { id: line.employeeId, name: nameOfEmployee(record.fields) },
    linkedCandidate: isUndone ? has.candidate.candidateId : linked.version === 0 ? undefined : idOf(linked, candidate),
    isMerged,
    linkedEmployees: isUndone ? [] : person.employees.map((one) => one.employee.id),
    isBeingHired: person.owner !== undefined,
    erased: await erasedOf(store, tenant.tenant, {
      candidate: line.candidateId,
      employee: `${connection}/${line.employeeId}`,
    }),
  };
  return {
    line,
    verdict: judgeLink(facts),
    link: {
      connection,
      candidate,
      is: { employee, number: record?.ref.number ?? null },
      instead: isMerged ? has?.candidate : undefined,
    },
    name: maskName({ name: facts.employee?.name ?? '' }),
  };
}

/** Whether the partner shows none of these candidates any more, all of the company of this one. */
async function isGone(partner: PartnerClient, candidates: readonly Candidate[], { company }: Candidate) {
  for (const { company: theirs, candidateId } of candidates) {
    if (theirs !== company) return false;
    const read = partner.candidates.get({ params: { candidateId } }, { priority: 'bulk' });
    const isShown = await read.then(
      () => true,
      (error: unknown) => {
        if (isConnectorError(error, 'NOT_FOUND')) return false;
        throw error;
      },
    );
    if (isShown) return false;
  }
  return candidates.length > 0;
}

/** Checks each side by itself: a link must not bring an erased person back through another application or employee. */
async function erasedOf(store: Store, tenantId: string, mark: Record<'candidate' | 'employee', string>) {
  for (const kind of ['candidate', 'employee'] as const)
    if ((await erasedAmong(store, tenantId, [{ kind, id: mark[kind] }])).size > 0) return kind;
  return undefined;
}

/** The person's candidate id: the one asked for, if it is among theirs. */
function idOf({ candidates }: Person, asked: Candidate): string {
  if (candidates.some((one) => isSameCandidate(one, asked))) return asked.candidateId;
  return candidates.find(({ company }) => company === asked.company)?.candidateId ?? 'of another company';
}

function sort(file: string, verified: readonly Verified[]) {
  const problems = verified.flatMap(({ line, verdict }): Problem[] => {
    if (verdict.kind !== 'refused') return [];
    const column = verdict.at === 'candidate' ? 1 : line.column;
    return [{ file, line: line.line, column, text: verdict.text }];
  });
  const lines = verified.map(({ line }) => line);
  problems.push(...repeated(file, lines));
  if (problems.length > 0) throw linksUnreadable(problems);
  const fresh = verified.filter(({ verdict }) => verdict.kind === 'fits');
  return {
    /** Links to write. Names are masked. */
    fresh: fresh.map(({ line: { candidateId, employeeId }, link, name }) => ({
      candidateId,
      employeeId,
      employeeNumber: link.is.number,
      name,
      /** The candidate who had the employee, and whom the partner no longer shows. */
      insteadOf: link.instead?.candidateId ?? null,
    })),
    /** Candidates that are linked already. */
    known: verified.filter(({ verdict }) => verdict.kind === 'known').map(({ line }) => line.candidateId),
    links: fresh.map(({ link }) => link),
  };
}

const HEADER = ['candidateId', 'employeeId'];
const AS_CSV = 'Write a comma between the two cells of each line, and save the file as UTF-8.';

/**
 * Reads a CSV file with the header `candidateId,employeeId`.
 * @throws ConnectorError LINKS_UNREADABLE with every problem as file:line:column
 */
function readLinkFile(file: string): { text: string; lines: LinkLine[] } {
  const text = contents(file);
  const [header, ...rows] = rowsOf(file, text);
  const heads = header?.record.map((cell) => cell.trim()) ?? [];
  if (heads.join() !== HEADER.join())
    throw linksUnreadable([{ file, line: 1, column: 1, text: `must begin with the line ${HEADER.join()}. ${AS_CSV}` }]);
  const lines = rows.map(lineOf);
  const problems = [...rows.flatMap((row) => unfit(file, row)), ...repeated(file, lines)];
  if (problems.length > 0) throw linksUnreadable(problems);
  if (lines.length === 0)
    throw linksUnreadable([{ file, line: 1, column: 1, text: 'holds no line below its header.' }]);
  return { text, lines };
}

function linksUnreadable(problems: readonly Problem[]): Error {
  return refuse('LINKS_UNREADABLE', problems);
}

function contents(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw linksUnreadable([{ file, line: 1, column: 1, text: 'cannot be read. Check the path and its permissions.' }]);
  }
}

interface Row {
  /** `lines` is the line on which a row ends. */
  info: { lines: number };
  raw: string;
  record: string[];
}

function rowsOf(file: string, text: string): Row[] {
  const options = { bom: true, info: true, raw: true, skip_empty_lines: true, relax_column_count: true } as const;
  try {
    return parse(text, options) as unknown as Row[];
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
    throw linksUnreadable([{ file, line, column: 1, text: `is not valid CSV (${error.code}). Correct it.` }]);
  }
}

/** One line of the file: this candidate is this employee. `column`: of its second cell, from 1. */
type LinkLine = ReturnType<typeof lineOf>;

function lineOf({ info, raw, record }: Row) {
  const [candidateId = '', employeeId = ''] = record.map((cell) => cell.trim());
  return { candidateId, employeeId, line: info.lines, column: raw.indexOf(',') + 2 };
}

function unfit(file: string, { info, record }: Row): Problem[] {
  if (record.length === 2 && record.every((cell) => cell.trim() !== '')) return [];
  return [{ file, line: info.lines, column: 1, text: 'needs two cells: a candidate id and an employee id.' }];
}

/** Finds repeated ids: a person is one employee, and an employee one person. */
function repeated(file: string, lines: readonly LinkLine[]): Problem[] {
  const seen = { candidateId: new Map<string, number>(), employeeId: new Map<string, number>() };
  return lines.flatMap((one) =>
    (['candidateId', 'employeeId'] as const).flatMap((key): Problem[] => {
      const before = seen[key].get(one[key]);
      seen[key].set(one[key], before ?? one.line);
      if (before === undefined || one[key] === '') return [];
      const column = key === 'candidateId' ? 1 : one.column;
      return [{ file, line: one.line, column, text: `names ${key} ${one[key]} a second time, after line ${before}.` }];
    }),
  );
}
