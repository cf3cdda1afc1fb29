import { randomUUID } from 'node:crypto';
import { chmod, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isScalar, Lexer, type Scalar } from 'yaml';
import { type ConnectorError, rejected } from '../errors.ts';
import { didYouMean, foldLabel, nearest } from '../in-words.ts';
import {
  customFieldsMapped,
  customFieldsWritten,
  definitionOf,
  type FieldTrouble,
  matchFields,
} from '../mapping/custom-fields.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import type { CallOptions } from '../partner/client/types.ts';
import { contract } from '../partner/contract/index.ts';
import { stageTypes } from '../partner/contract/pipelines.ts';
import { type FieldDefinition, readMatches } from '../store/fields.ts';
import type { Store } from '../store/open-store.ts';
import { readTenant, tenantFiles, withSecrets } from '../tenants/load-tenants.ts';
import { loadEveryMapping } from '../tenants/open-hris.ts';
import { partnerSection, type Tenant, type TenantFile } from '../tenants/schema.ts';
import {
  explainIssues,
  type Path,
  type Problem,
  parseYaml,
  problemAt,
  readYamlFile,
  refuse,
  type YamlFile,
} from '../yaml/yaml-file.ts';
import { openPartner } from './open-tenant.ts';

/** The result for a tenant file: its changed lines; empty if all ids were there already. */
export interface WrittenIds {
  file: string;
  changes: { line: number; before: string; after: string }[];
}

/**
 * Writes ids and labels into the tenant's file where it needs them; all or nothing.
 * @throws ConnectorError TENANT_UNKNOWN, TENANT_FILE_INVALID, IDS_UNCLEAR, FILE_CHANGED
 */
export async function writeIds(tenantsDir: string, tenantId: string): Promise<WrittenIds> {
  const source = await findTenantFile(tenantsDir, tenantId);
  const partner = openPartner({ partner: readPartnerSection(source) });
  try {
    const filled = fillIds(source, await readNamedThings(source, partner));
    if ('problems' in filled) throw refuse('IDS_UNCLEAR', filled.problems);
    const changes = changedLines(source.text, filled.text);
    if (changes.length > 0) await replaceFile(source, filled.text);
    return { file: source.file, changes };
  } finally {
    await partner.close();
  }
}

/** Edits never move lines, so both texts have the same number. */
function changedLines(before: string, after: string): WrittenIds['changes'] {
  const now = after.split(/\r?\n/);
  return before.split(/\r?\n/).flatMap((line, at) => {
    const changed = now[at] ?? '';
    return line === changed ? [] : [{ line: at + 1, before: line, after: changed }];
  });
}

/** Replaces the file atomically; follows a link to its target and keeps the file's mode. */
async function replaceFile({ file, text: before }: YamlFile, text: string): Promise<void> {
  const { problems } = await readTenant(parseYaml(file, text), {});
  if (problems.length > 0) throw refuse('TENANT_FILE_INVALID', problems);
  const path = await realpath(file);
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    const { mode } = await stat(path);
    await writeFile(temporary, text, { flag: 'wx', mode });
    await chmod(temporary, mode);
    if ((await readFile(path, 'utf8')) !== before) throw changedMeanwhile(file);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

function changedMeanwhile(file: string): ConnectorError {
  return rejected(
    'FILE_CHANGED',
    `${file} was changed while hirebridge asked the hiring platform, so nothing was written. Run it again.`,
  );
}

/** The kinds of things at the hiring platform that a tenant file can name. */
type ThingKind = 'flow' | 'stage' | 'candidateField' | 'jobField' | 'team' | 'job';

/** A place in a tenant file that names something at the hiring platform. */
interface IdPlace {
  kind: ThingKind;
  path: Path;
  /** The text in the file, an id or a label. */
  wanted: string;
  /** Offsets in the text, including quotes. */
  start: number;
  end: number;
}

const EACH = Symbol('each');
type Pattern = readonly (string | typeof EACH)[];

const PLACES: readonly (readonly [ThingKind, Pattern])[] = [
  ['flow', ['policies', 'onboarding', 'flow']],
  ['stage', ['policies', 'enrolAt', EACH]],
  ['stage', ['policies', 'createAt', EACH]],
  ['candidateField', ['writeBack', 'customField']],
  ['candidateField', ['writeBack', 'employeeUrl']],
  ['candidateField', ['writeBack', 'holdReason']],
  ['candidateField', ['writeBack', 'values', EACH, 'customFieldId']],
  ['jobField', ['scope', 'customField', 'name']],
  ['team', ['scope', 'teams', EACH]],
  ['job', ['scope', 'jobs', EACH]],
];

/** Every such place in the table's order; a place that cannot be edited is a problem. */
export function findIdPlaces(source: YamlFile): { places: IdPlace[]; problems: Problem[] } {
  const places: IdPlace[] = [];
  const problems: Problem[] = [];
  for (const [kind, pattern] of PLACES)
    for (const { path, value } of expand(source.value, pattern)) {
      const node = source.doc.getIn(path, true);
      if (isOnOneLine(source.text, node)) places.push({ kind, path, wanted: String(value).trim(), ...rangeOf(node) });
      else {
        const where = `"${path.join('.')}" is an alias or spans several lines`;
        problems.push(problemAt(source, path, `${where}. Write the id or label in full, on one line.`));
      }
    }
  return { places, problems };
}

/** Texts and numbers that match the pattern; the schema judges everything else. */
function expand(value: unknown, pattern: Pattern, path: Path = []): { path: Path; value: string | number }[] {
  const [step, ...rest] = pattern;
  if (step === undefined) return typeof value === 'string' || typeof value === 'number' ? [{ path, value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  if (step !== EACH) return expand((value as Record<string, unknown>)[step], rest, [...path, step]);
  return Array.isArray(value) ? value.flatMap((item, at) => expand(item, rest, [...path, at])) : [];
}

function isOnOneLine(text: string, node: unknown): node is Scalar {
  if (!isScalar(node) || node.type?.startsWith('BLOCK_') === true) return false;
  const { start, end } = rangeOf(node);
  return !text.slice(start, end).includes('\n');
}

function rangeOf(node: Scalar): { start: number; end: number } {
  const [start, end] = node.range ?? [0, 0];
  return { start, end };
}

const LIVE: CallOptions = { priority: 'live' };

/** Reads only lists from which the file names something, because there can be thousands of jobs. */
export async function readNamedThings(source: YamlFile, partner: PartnerClient): Promise<NamedThings> {
  const kinds = new Set(findIdPlaces(source).places.map(({ kind }) => kind));
  const ifNamed = async <T>(among: readonly ThingKind[], read: () => Promise<T[]>): Promise<T[]> =>
    among.some((kind) => kinds.has(kind)) ? read() : [];
  const [flow, stage, fields, team, job] = await Promise.all([
    ifNamed(['flow'], async () => {
      const { items } = await partner.readAll(contract.onboarding.listFlows, {}, LIVE);
      return items.map(({ flowId, name, status }) => ({ id: flowId, label: name ?? '', about: status ?? '' }));
    }),
    ifNamed(['stage'], async () => {
      const { items } = await partner.readAll(contract.pipelines.list, {}, LIVE);
      return items.flatMap(({ name: about, stages }) =>
        stages.map(({ id, name }) => ({ id: String(id), label: name, about })),
      );
    }),
    ifNamed(['candidateField', 'jobField'], () => readCustomFields(partner)),
    ifNamed(['team'], async () => {
      const { items } = await partner.readAll(contract.teams.list, {}, LIVE);
      return items.map(({ id, name }) => ({ id, label: name ?? '', about: '' }));
    }),
    ifNamed(['job'], async () => {
      const { items } = await partner.readAll(contract.jobs.list, {}, LIVE);
      return items.map(({ id, title, status }) => ({ id: String(id), label: title, about: status }));
    }),
  ]);
  return {
    flow,
    stage,
    candidateField: fieldsOf('candidate', fields),
    jobField: fieldsOf('job', fields),
    team,
    job,
  };
}

export async function readCustomFields(partner: PartnerClient): Promise<FieldDefinition[]> {
  const { items } = await partner.readAll(contract.customFields.list, {}, LIVE);
  return items.map(definitionOf);
}

/** Faults of the custom fields that the tenant's files name. */
export async function judgeCustomFields(
  tenant: Tenant,
  defined: readonly FieldDefinition[],
  store: Store | undefined,
): Promise<FieldTrouble[]> {
  const uses = [...customFieldsMapped(await loadEveryMapping(tenant)), ...customFieldsWritten(tenant.writeBack)];
  const known = store === undefined ? new Map<string, FieldDefinition>() : await readMatches(store, tenant.tenant);
  return matchFields(uses, defined, known).troubles;
}

function fieldsOf(entity: string, fields: readonly FieldDefinition[]): NamedThing[] {
  return fields
    .filter((field) => field.entity === entity)
    .map(({ id, label, type, section }) => ({ id, label, about: section ? `${type}, ${section}` : type }));
}

interface NamedThing {
  id: string;
  label: string;
  /** Tells it apart from others with the same label. */
  about: string;
}

export type NamedThings = Readonly<Record<ThingKind, readonly NamedThing[]>>;

/** `leave`: the text stays. `refusal`: what is unclear, and the next step. */
type SettledId = 'leave' | { thing: NamedThing } | { refusal: string };

const NAMES: Record<ThingKind, string> = {
  flow: 'onboarding flow',
  stage: 'stage',
  candidateField: 'candidate custom field',
  jobField: 'job custom field',
  team: 'team',
  job: 'job',
};
const MOST_CANDIDATES = 20;

/** Resolves a place of a tenant file: an id itself, otherwise the only thing with that label. */
export function settleId(place: IdPlace, things: readonly NamedThing[]): SettledId {
  const { kind, wanted } = place;
  if (kind === 'stage' && stageTypes.some((type) => type === wanted.toUpperCase())) return 'leave';
  const byId = things.find(({ id }) => id === wanted);
  if (byId !== undefined) return { thing: byId };
  // A single flow must be the one meant; a single custom field or job would be a guess.
  const fitting = things.filter(({ label }) =>
    isPlaceholder(wanted) ? kind === 'flow' && things.length === 1 : foldLabel(label) === foldLabel(wanted),
  );
  const [only] = fitting;
  if (only === undefined || fitting.length > 1) return { refusal: refusalOf(place, things, fitting) };
  // Job field scopes of two tenants are compared as text, and only this place accepts labels.
  return kind === 'jobField' ? 'leave' : { thing: only };
}

/** The documentation's notation for a value to fill in: `<flowId>`. */
function isPlaceholder(wanted: string): boolean {
  return /^<.*>$/.test(wanted);
}

function refusalOf({ kind, path, wanted }: IdPlace, things: readonly NamedThing[], fitting: readonly NamedThing[]) {
  const name = NAMES[kind];
  const where = `"${path.join('.')}" is "${wanted}"`;
  const next = 'write the id of the one that is meant, and run it again.';
  if (things.length === 0) return `${where}, and the hiring platform has no ${name} at all. Create it there first.`;
  if (fitting.length > 1)
    return `${where}, and ${fitting.length} of the kind "${name}" have that label: ${listed(fitting)}; ${next}`;
  if (isPlaceholder(wanted)) return `${where}, which is still to be filled in: ${listed(things)}; ${next}`;
  const near = didYouMean(wanted, [...new Set(things.flatMap(({ id, label }) => [label, id]))]);
  const hint = near.startsWith('Did') ? ` ${near}` : '';
  return `${where}, and no ${name} has that id or label.${hint} There are: ${listed(things)}; ${next}`;
}

function listed(things: readonly NamedThing[]): string {
  const shown = things.slice(0, MOST_CANDIDATES).map(({ id, label, about }) => {
    const words = [JSON.stringify(label), about].filter((word) => word !== '');
    return `${id} (${words.join(', ')})`;
  });
  const more = things.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * Replaces each label in a tenant file by its id, and puts the label in a comment at the end of the line; all other
 * characters stay. Returns the problems instead if anything is unclear. Pure.
 */
export function fillIds(source: YamlFile, things: NamedThings): { text: string } | { problems: Problem[] } {
  const { places, problems } = findIdPlaces(source);
  const settled: { place: IdPlace; thing: NamedThing }[] = [];
  for (const place of places) {
    const found = settleId(place, things[place.kind]);
    if (found === 'leave') continue;
    if ('refusal' in found) problems.push(problemAt(source, place.path, found.refusal));
    else settled.push({ place, thing: found.thing });
  }
  if (problems.length > 0) return { problems: problems.toSorted((a, b) => a.line - b.line || a.column - b.column) };
  const ids = settled
    .filter(({ place, thing }) => place.wanted !== thing.id)
    .map(({ place: { start, end }, thing }): Edit => ({ start, end, text: JSON.stringify(thing.id) }));
  const labels = settled.map(({ place, thing }) => ({ after: place.end, label: thing.label }));
  return { text: applyEdits(source.text, [...ids, ...labelComments(source.text, labels)]) };
}

/** From the end backwards, so that offsets stay valid. */
function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((now, edit) => now.slice(0, edit.start) + edit.text + now.slice(edit.end), text);
}

interface Edit {
  start: number;
  end: number;
  text: string;
}

interface Token {
  start: number;
  text: string;
  isScalar: boolean;
}

/** Where a line's comment is; with an empty text, where it would be. */
type Spot = Pick<Token, 'start' | 'text'>;

/** Lexer marks without text: begin of a document, end of a broken flow, begin of a scalar. */
const MARKS = ['\u0002', '\u0018', '\u001f'];
/** Labels as this module writes them; anything after them is the author's. */
const OWN_LABELS = /^#[ \t]*"(?:[^"\\]|\\.)*"(?:, "(?:[^"\\]|\\.)*")*(?= - |[ \t]*$)/;

/** The edits that put labels into comments, one on each line: `# "Label" - what the author wrote`. */
function labelComments(text: string, labels: readonly { after: number; label: string }[]): Edit[] {
  const tokens = tokensOf(text);
  const lines = new Map<number, { spot: Spot; labels: Set<string> }>();
  for (const { after, label } of labels.toSorted((a, b) => a.after - b.after)) {
    const spot = spotAfter(tokens, after, text);
    if (spot === undefined) continue;
    const line = lines.get(spot.start) ?? { spot, labels: new Set() };
    lines.set(spot.start, line);
    line.labels.add(JSON.stringify(label));
  }
  return [...lines.values()].map(({ spot: { start, text: old }, labels: quoted }) => {
    const gap = old === '' && !/[ \t]/.test(text[start - 1] ?? '') ? ' ' : '';
    return { start, end: start + old.length, text: `${gap}# ${[...quoted].join(', ')}${authorsPart(old)}` };
  });
}

function authorsPart(comment: string): string {
  if (OWN_LABELS.test(comment)) return comment.replace(OWN_LABELS, '');
  const own = comment.replace(/^#[ \t]*/, '');
  return own === '' ? '' : ` - ${own}`;
}

/** Undefined if the line ends inside a text, which a comment would become part of. */
function spotAfter(tokens: readonly Token[], after: number, text: string): Spot | undefined {
  const next = tokens.find(
    ({ start, text: word, isScalar }) => start >= after && (word.includes('\n') || (!isScalar && word.startsWith('#'))),
  );
  if (next === undefined) return { start: text.length, text: '' };
  if (next.text.startsWith('#')) return next;
  return /^\r?\n$/.test(next.text) ? { start: next.start, text: '' } : undefined;
}

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let start = 0;
  let isScalar = false;
  for (const word of new Lexer().lex(text)) {
    if (!MARKS.includes(word)) {
      tokens.push({ start, text: word, isScalar });
      start += word.length;
    }
    isScalar = word === '\u001f';
  }
  return tokens;
}

/**
 * The folder's file for this tenant; it may still be invalid elsewhere.
 * @throws ConnectorError TENANT_UNKNOWN, TENANT_FILE_INVALID
 */
async function findTenantFile(dir: string, tenantId: string): Promise<YamlFile> {
  const sources = await Promise.all((await tenantFiles(dir)).map((file) => readYamlFile(file)));
  const own = sources.filter((source) => tenantOf(source) === tenantId);
  const [only] = own;
  if (only !== undefined && own.length === 1) return only;
  const twice = own.map((source) => problemAt(source, ['tenant'], `another file names "${tenantId}" too. Keep one.`));
  const unreadable = sources.flatMap(({ problems }) => problems);
  if (twice.length + unreadable.length > 0) throw refuse('TENANT_FILE_INVALID', [...twice, ...unreadable]);
  const known = sources.map(tenantOf).filter((name) => name !== undefined);
  const near = nearest(tenantId, known);
  const next = near === undefined ? 'Check name and folder.' : `Did you mean "${near}"?`;
  throw rejected(
    'TENANT_UNKNOWN',
    `No file of ${dir} names the tenant "${tenantId}" (known: ${known.join(', ')}). ${next}`,
  );
}

/** The file's section about the hiring platform. @throws ConnectorError TENANT_FILE_INVALID */
function readPartnerSection(source: YamlFile): TenantFile['partner'] {
  const parsed = partnerSection.safeParse((source.value as { partner?: unknown }).partner);
  if (parsed.success) return withSecrets(parsed.data, source.file);
  throw refuse('TENANT_FILE_INVALID', explainIssues(source, partnerSection, parsed.error, ['partner']));
}

function tenantOf({ value }: YamlFile): string | undefined {
  const named = typeof value === 'object' && value !== null && 'tenant' in value ? value.tenant : undefined;
  return typeof named === 'string' ? named : undefined;
}
