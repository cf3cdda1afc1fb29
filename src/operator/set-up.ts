import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ConnectorError, rejected } from '../errors.ts';
import type { DescribedField } from '../hris/port.ts';
import type { OwnColumn } from '../hris/sql/describe.ts';
import { writeRule } from '../mapping/compile-rule.ts';
import { evaluateMapping } from '../mapping/evaluate.ts';
import { sourceRecords } from '../mapping/source-fields.ts';
import { contract } from '../partner/contract/index.ts';
import { stageTypes } from '../partner/contract/pipelines.ts';
import { applyDefinitions } from '../store/applied-tenants.ts';
import type { FieldDefinition } from '../store/fields.ts';
import type { Store } from '../store/open-store.ts';
import { parseTenant } from '../tenants/load-tenants.ts';
import { loadTenantMapping, openTenantHris } from '../tenants/open-hris.ts';
import { planDefinition } from '../tenants/plan-application.ts';
import type { Tenant } from '../tenants/schema.ts';
import { assertChecked, checkDefinition } from './check-applications.ts';
import type { CheckLine } from './check-tenant.ts';
import {
  assertNewTenant,
  defineDateField,
  type NewFile,
  partnerAccess,
  type SeenPartner,
  seePartner,
  seeSources,
  tenantTexts,
  writeNewFiles,
} from './new-tenant.ts';
import { CALL_MS, type OpenTenant, patiently, withEnds } from './open-tenant.ts';
import { readHireSources } from './plan-hire.ts';
import { type Source, suggestMapping } from './suggest-mapping.ts';

/**
 * Sets up a tenant step by step; `init` and `tenant apply` do it at once. Writes nothing before the last step, except
 * the date field on request. The input stays in memory only, because it contains secrets.
 */
export interface Draft {
  tenant: string;
  baseUrl: string;
  /** The key itself, or a reference to it. */
  apiKey: string;
  seen: SeenPartner;
}

/** A draft after its HR system was read too. */
export interface FullDraft extends Draft {
  flow: string;
  startDate: string;
  /** The HR system's address, including its password if it has one, or a reference to it. */
  hris: string;
  createTable: boolean;
  fields: readonly HrField[];
  /** By field: a path, `default` or `none`. */
  choices: Readonly<Record<string, Choice>>;
}

/** `default`: by the default mapping; `none`: left out. */
export type Choice = 'default' | 'none' | `candidate.${string}` | `job.${string}`;

/** A field of an employee, and the possible sources of its value. */
export interface HrField {
  key: string;
  /** The HR system's name for it. */
  label: string;
  type: string;
  required: boolean;
  /** The default mapping's rule. */
  rule?: string;
  /** A column that matches no field of ours. */
  isOwn: boolean;
  /** The HR system has it; the tenant's own mapping may name more fields. */
  isThere: boolean;
  suggested: Choice;
  /** Every path whose type fits. */
  paths: readonly string[];
}

/** Reads from the hiring platform what a tenant must name. @throws ConnectorError as assertNewTenant, or BAD_URL */
export async function beginDraft(tenantsDir: string, given: Omit<Draft, 'seen'>): Promise<Draft> {
  assertNewTenant(tenantsDir, given.tenant);
  const seen = await seePartner(partnerAccess(given));
  if (seen.flows.length > 0) return { ...given, seen };
  throw invalid('The hiring platform has no active onboarding flow. Activate one in its dashboard, then go on here.');
}

/** Creates the candidate's custom field for the first day of work, and reads the partner again. */
export async function defineStartDate(draft: Draft, label: string): Promise<Draft> {
  const access = partnerAccess(draft);
  await defineDateField(access, label);
  return { ...draft, seen: await seePartner(access) };
}

type HrGiven = Pick<FullDraft, 'flow' | 'startDate' | 'hris' | 'createTable'>;

/** Reads the HR system's fields, and suggests a source for each by name and type. */
export async function readHrSystem(tenantsDir: string, draft: Draft, given: HrGiven): Promise<FullDraft> {
  const bare: FullDraft = { ...draft, ...given, fields: [], choices: {} };
  const { described, mapping } = await withDraft(tenantsDir, bare, async (tenant) => {
    const hris = await openTenantHris(tenant);
    try {
      const fields = (await hris.describe?.('employee', AbortSignal.timeout(CALL_MS))) ?? [];
      return { described: fields, mapping: await loadTenantMapping(tenant) };
    } finally {
      await hris.close();
    }
  });
  const sources = sourcesOf(draft.seen.customFields);
  const suggested = suggestedFor(described, await seeSources(partnerAccess(draft), draft.seen));
  const rules = new Map(mapping.fields.map((field) => [field.target, field]));
  const there = described.map(({ key, label, isField, type, required }): HrField => {
    const rule = rules.get(key);
    return {
      key: isField ? key : camel(key),
      label,
      type,
      required: required || rule?.required === true,
      ...(rule === undefined ? {} : { rule: writeRule(rule.rule) }),
      isOwn: !isField,
      isThere: true,
      ...choicesFor(type, sources, rule === undefined ? (suggested.get(label) ?? 'none') : 'default'),
    };
  });
  const missing = mapping.fields
    .filter(({ target }) => !there.some(({ key }) => key === target))
    .map(({ target, def, rule, required }): HrField => {
      const known = described.length === 0;
      return {
        key: target,
        label: def.label,
        type: def.type,
        required,
        rule: writeRule(rule),
        isOwn: false,
        isThere: known,
        paths: choicesFor(def.type, sources, 'default').paths,
        suggested: known ? 'default' : 'none',
      };
    });
  // The first day of work has its own question.
  const fields = [...there, ...missing].filter(({ key }) => key !== 'startDate');
  return { ...bare, fields, choices: Object.fromEntries(fields.map(({ key, suggested }) => [key, suggested])) };
}

interface Offered {
  path: Exclude<Choice, 'default' | 'none'>;
  name: string;
  type: string;
}

const TYPES: Readonly<Record<string, string>> = {
  number: 'number',
  date: 'date',
  checkbox: 'boolean',
  'multi-select': 'list',
};
const DATES = new Set(['dateOfBirth', 'createdAt', 'updatedAt']);
/** Fields of the job that the person leaves, lists, and fields that no employee has. */
const NOT_OFFERED = new Set(
  'currentJobTitle currentCompany skills majors languages resume coverLetter summary description'.split(' '),
);
/** Mapped only if somebody chooses them. */
const NOT_SUGGESTED = new Set(['gender', 'nationality', 'dateOfBirth', 'id', 'status', 'createdAt', 'updatedAt']);

function sourcesOf(customFields: readonly FieldDefinition[]): Offered[] {
  const own = (['candidate', 'job'] as const).flatMap((entity) =>
    sourceRecords[entity].fields
      .filter((name) => !NOT_OFFERED.has(name))
      .map((name): Offered => ({ path: `${entity}.${name}`, name, type: DATES.has(name) ? 'date' : 'text' })),
  );
  const custom = customFields.flatMap(({ id, entity, label, type }): Offered[] => {
    if (entity !== 'candidate' && entity !== 'job') return [];
    const isClear = customFields.filter((one) => one.entity === entity && one.label === label).length === 1;
    const named = isClear && !/[[\]{}]/.test(label) ? label : id;
    return [{ path: `${entity}.customFields[${named}]`, name: label, type: TYPES[type] ?? 'text' }];
  });
  return [...custom, ...own];
}

/** The sources whose type fits, and the wanted source if it is among them. */
function choicesFor(type: string, sources: readonly Offered[], wanted: string): Pick<HrField, 'suggested' | 'paths'> {
  const fitting = sources.filter((one) => one.type === type || (one.type !== 'list' && /^(?:text|other)$/.test(type)));
  const suggested = wanted === 'default' ? wanted : fitting.find(({ path }) => path === wanted)?.path;
  return { suggested: suggested ?? 'none', paths: fitting.map(({ path }) => path) };
}

/** By label, the path that `init` would suggest for a field; the first day of work has its own question. */
function suggestedFor(fields: readonly DescribedField[], sources: readonly Source[]): ReadonlyMap<string, string> {
  const columns = fields.map((field): OwnColumn => ({ ...field, name: field.label, isKey: false, samples: [] }));
  const free = sources.filter(({ path }) => !NOT_SUGGESTED.has(path.replace(/^.*\./, '')));
  const { lines } = suggestMapping({ name: 'employees', columns }, free, '');
  return new Map(lines.flatMap(({ column, from }) => (from === undefined ? [] : [[column.name, from]])));
}

function camel(column: string): string {
  return column.toLowerCase().replaceAll(/_+(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

/** The files that will be written. */
export function draftFiles(
  tenantsDir: string,
  draft: FullDraft,
  { apiKey, hris }: Pick<FullDraft, 'apiKey' | 'hris'> = draft,
): Promise<NewFile[]> {
  const { tenant, baseUrl, seen, flow, startDate, createTable } = draft;
  const { environment, allowPrivate } = partnerAccess(draft);
  return tenantTexts(tenantsDir, {
    tenant,
    baseUrl,
    environment,
    allowPrivate,
    company: seen.company,
    apiKey,
    hris,
    createTable,
    flow,
    startDate,
    ...mappedBy(draft),
  });
}

const TRANSFORMS: Readonly<Record<string, string>> = { date: 'date', number: 'number', boolean: 'boolean' };

function mappedBy({ fields, choices }: FullDraft) {
  type Rule = { from: string; transform?: string[]; required?: boolean } | null;
  const rules: Record<string, Rule> = {};
  const columns: Record<string, { column: string; type: string }> = {};
  for (const { key, label, type, required, rule, isOwn } of fields) {
    const choice = choices[key] ?? 'none';
    if (choice === 'default' || (choice === 'none' && rule === undefined)) continue;
    const transform = TRANSFORMS[type];
    rules[key] =
      choice === 'none'
        ? null
        : {
            from: choice,
            ...(transform === undefined ? {} : { transform: [transform] }),
            ...(required ? { required } : {}),
          };
    if (isOwn && choice !== 'none') columns[key] = { column: label, type: type === 'other' ? 'text' : type };
  }
  return { rules, columns };
}

/**
 * The tenant that the draft's files will define. Its secrets are meanwhile in this process's environment under names of
 * their own, and never on disk.
 */
async function withDraft<T>(
  tenantsDir: string,
  draft: FullDraft,
  use: (tenant: Tenant, texts: Record<string, string>) => Promise<T>,
): Promise<T> {
  const name = `HIREBRIDGE_DRAFT_${randomUUID().replaceAll('-', '')}`;
  const secrets = { [`${name}_KEY`]: partnerAccess(draft).apiKey, [`${name}_HRIS`]: draft.hris };
  const isSecret = !/^(?:sqlite|env|file):/.test(draft.hris);
  Object.assign(process.env, secrets);
  try {
    const refs = { apiKey: `env:${name}_KEY`, hris: isSecret ? `env:${name}_HRIS` : draft.hris };
    const files = await draftFiles(tenantsDir, draft, refs);
    const texts = Object.fromEntries(files.map(({ path, text }) => [path, text]));
    const file = join(tenantsDir, `${draft.tenant}.yaml`);
    return await use(await parseTenant({ file, files: texts }), texts);
  } finally {
    for (const one of Object.keys(secrets)) delete process.env[one];
  }
}

/** The checks of a draft on both sides, and how its mapping works for real people. */
export interface Tried {
  checks: CheckLine[];
  /** People hired already: go-live records them and starts none of them. */
  hired: number;
  /** People whose records were mapped. */
  read: number;
  /** Of these, people with every required value. */
  ready: number;
  fields: { field: string; filled: number; empty: number; refused: number; example?: string }[];
}

const MOST_PEOPLE = 50;
const MOST_HIRED = 1_000;

/** Checks a draft as `tenant apply` does, and maps some people as if they were the first hires; writes nothing. */
export async function tryDraft(tenantsDir: string, store: Store, draft: FullDraft): Promise<Tried> {
  return withDraft(tenantsDir, draft, async (tenant) => {
    const checks = await checkDefinition(tenant, store);
    if (checks.some(fails)) return { checks, hired: 0, read: 0, ready: 0, fields: [] };
    return withEnds(store, tenant, async (open) => ({ checks, ...(await mapPeople(open)) }));
  });
}

export function fails({ state }: CheckLine): boolean {
  return state === 'fail';
}

async function mapPeople({ store, connection }: OpenTenant): Promise<Omit<Tried, 'checks'>> {
  const { partner, mapping } = connection;
  const idsIn = async (stageType: (typeof stageTypes)[number], most: number): Promise<string[]> => {
    const ids: string[] = [];
    const query = { stageType };
    for await (const { items } of partner.pages(
      contract.jobCandidates.listByStageType,
      { query },
      { priority: 'bulk' },
    )) {
      ids.push(...items.map(({ jobCandidateDetails }) => String(jobCandidateDetails.id)));
      if (ids.length >= most) break;
    }
    return ids;
  };
  const hired = await idsIn('HIRED', MOST_HIRED);
  const ids = hired.slice(0, MOST_PEOPLE);
  for (const stage of stageTypes.filter((one) => one !== 'HIRED')) {
    if (ids.length >= MOST_PEOPLE) break;
    ids.push(...(await idsIn(stage, MOST_PEOPLE - ids.length)).slice(0, MOST_PEOPLE - ids.length));
  }
  const body = { jobCandidateIds: ids };
  const { items } =
    ids.length === 0
      ? { items: [] }
      : await patiently(() => partner.readAll(contract.jobCandidates.bulkFetch, { body }, { priority: 'bulk' }));
  const found = await Promise.all(
    items.map(async (item) => evaluateMapping(mapping, (await readHireSources(store, connection, null, item)).sources)),
  );
  const fields = mapping.fields.map(({ target }) => {
    const refused = found.flatMap(({ problems }) => problems.filter(({ field }) => field === target));
    const filled = found.filter((one) => one.fields[target] !== undefined).length;
    const [first] = refused;
    return {
      field: target,
      filled,
      refused: refused.length,
      empty: found.length - filled - refused.length,
      ...(first === undefined ? {} : { example: first.text }),
    };
  });
  const ready = found.filter(({ problems }) => problems.length === 0).length;
  return { hired: hired.length, read: found.length, ready, fields };
}

/**
 * Checks the files once more, writes and applies them: all or nothing.
 * @throws ConnectorError FILE_EXISTS, TENANT_FILE_INVALID, CHECK_FAILED, TENANTS_CHANGED
 */
export async function finishDraft(tenantsDir: string, store: Store, draft: FullDraft, by: string): Promise<void> {
  const files = await draftFiles(tenantsDir, draft);
  const plain = files.filter(({ isSecret }) => !isSecret);
  const definition = {
    file: join(tenantsDir, `${draft.tenant}.yaml`),
    files: Object.fromEntries(plain.map(({ path, text }) => [path, text])),
  };
  const planned = await planDefinition(store, definition);
  await writeNewFiles(files);
  try {
    await assertChecked(store, [planned]);
    if (!(await applyDefinitions(store, [planned], by)))
      throw rejected(
        'TENANTS_CHANGED',
        `Somebody else applied a tenant ${draft.tenant} meanwhile, and nothing was done. Choose another id.`,
      );
  } catch (error) {
    // This call created the files.
    await Promise.all(files.map(({ path }) => rm(path, { force: true })));
    throw error;
  }
}

function invalid(message: string): ConnectorError {
  return rejected('SETUP_INVALID', message);
}
