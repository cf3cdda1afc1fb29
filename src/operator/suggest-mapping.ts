import { withFieldValues } from '../../activities/fields/custom-fields.ts';
import { fetchJobCandidates } from '../../activities/presence/fetch-job-candidates.ts';
import { defaultColumns, fieldDefs } from '../hris/option-types.ts';
import type { OwnColumn, OwnTable } from '../hris/sql/describe.ts';
import { normalized } from '../in-words.ts';
import { createLogger } from '../log.ts';
import { evaluateField } from '../mapping/evaluate.ts';
import { fitMapping } from '../mapping/fit-mapping.ts';
import { loadMapping } from '../mapping/load-mapping.ts';
import { type MappingSources, parseSourcePath, readSource, sourceRecords } from '../mapping/source-fields.ts';
import type { PartnerClient } from '../partner/client/create-partner-client.ts';
import { contract } from '../partner/contract/index.ts';
import { stageTypes } from '../partner/contract/pipelines.ts';
import type { FieldDefinition } from '../store/fields.ts';
import { loadTenantMapping } from '../tenants/open-hris.ts';
import type { Tenant } from '../tenants/schema.ts';
import { type Transformed, type TransformName, transforms, type Value } from '../values/transforms.ts';
import { CALL_MS, openHris, openPartner } from './open-tenant.ts';

/** A field that a rule may read, with its values for recent hires. */
export interface Source {
  path: string;
  /** The meaning of its name, shared with columns of the same meaning. */
  meaning: string;
  type: 'text' | 'number' | 'date' | 'list';
  /** Possible values of a select field. */
  options: readonly string[];
  /** Values of the latest hires, latest first; personal data. */
  samples: Value[];
}

/** One column of the HR table, and the source of its value. */
export interface Line {
  column: OwnColumn;
  /** The mapping's name for it. */
  field: string;
  /** Absent if nothing is suggested; then the column stays as it is. */
  from?: string;
  constant?: string;
  transform: TransformName[];
  /** The value that the last hire would get; absent if they have none. */
  sample?: string;
  why: string;
}

/** The columns that hold no value of the person, by purpose. */
interface TableRoles {
  idColumn: string;
  numberColumn: string;
  /** `none` if the table has no column for it. */
  referenceColumn: string;
  endColumn?: string;
}

export interface Suggestion {
  roles: TableRoles;
  lines: Line[];
}

/**
 * Words for the same meaning, in the languages of HR tables; names used by the hiring platform are in the same row. The
 * first word is the mapping's own field name, if it has one.
 */
const WORDS = [
  'givenName firstname givenname forename fname vorname rufname prenom nombre primernombre voornaam nome',
  'familyName lastname familyname surname lname nachname zuname nom nomdefamille apellido apellidos achternaam cognome',
  'email mail emailaddress privateemail personalemail emailprivat correo courriel mailprivat',
  'phone phonenumber mobile mobilephone tel telephone telefon telefonnummer handy telefono movil cell cellulare',
  'city town ort stadt wohnort ville ciudad plaats citta',
  'country countrycode nation land pays pais paese nazione',
  'title jobtitle position positiontitle designation stelle funktion stellenbezeichnung poste puesto cargo functie ' +
    'mansione ruolo',
  'department dept abteilung service departement departamento orgunit afdeling reparto',
  'location site office workplace worklocation standort arbeitsort lieu sede',
  'employmentType contracttype typeofemployment vertragsart beschaeftigungsart typecontrat tipocontrato',
  'startDate hiredate dateofhire datehired entrydate joiningdate dateofjoining firstday eintritt eintrittsdatum ' +
    'dateentree datedebut fechainicio fechaingreso dataassunzione',
  'birthDate dob dateofbirth birthday geburtsdatum geburtstag datenaissance fechanacimiento geboortedatum datanascita',
  'gender sex geschlecht sexe genero sesso',
  'nationality citizenship staatsangehoerigkeit nationalite nacionalidad',
  'costCentre costcenter kostenstelle centredecout centrodecosto',
  'salary annualsalary basesalary gehalt jahresgehalt salaire salario stipendio',
  'manager managername supervisor lineManager vorgesetzter',
  'number employeenumber employeeno empno empnumber personnelnumber personnelno personalnummer pnr staffnumber ' +
    'staffid badge matricule matricola',
  'reference externalref externref extref externalid externalreference hirebridgeref sourceref sourceid',
  'end enddate lastday terminationdate leavedate dateleft austritt austrittsdatum datesortie fechabaja',
];

const MEANINGS: ReadonlyMap<string, string> = new Map(
  WORDS.flatMap((row) => {
    const [meaning = '', ...words] = row.split(' ');
    return [meaning, ...words].map((word) => [folded(word), meaning] as const);
  }),
);

/** Prefixes that say whose value it is, not what it is. */
const WHOSE = /^(employee|emp|person|personal|staff|worker|hr|candidate|private|home|work|job)(?=.{3})/;

function folded(name: string): string {
  return normalized(name, 'NFKD')
    .toLowerCase()
    .replaceAll(/ä/g, 'ae')
    .replaceAll(/[^a-z0-9]/g, '');
}

/** One word for `emp_first_name`, `FirstName` and `First name`. */
function meaningOf(name: string): string {
  const word = folded(name);
  return MEANINGS.get(word) ?? MEANINGS.get(word.replace(WHOSE, '')) ?? word;
}

/** Fields of the partner's records whose names differ from ours; all other names are their own meaning. */
const OWN_MEANINGS: Readonly<Record<string, string>> = {
  'candidate.firstName': 'givenName',
  'candidate.lastName': 'familyName',
  'candidate.dateOfBirth': 'birthDate',
  'candidate.id': 'candidateid',
  'job.id': 'jobid',
  'job.city': 'location',
  'job.country': 'jobcountry',
  'job.state': 'jobstate',
  'jobCandidate.id': 'jobcandidateid',
};

/** Fields of the job that the person is leaving, or of no use as facts about a person. */
const NEVER = [
  /^candidate\.(current\w+|resume|updatedAt|createdAt|majors|summary|coverLetter)$/,
  /^job\.(description|pipelineId)$/,
  /^(onboarding|application)\./,
  /^jobCandidate\.(jobId|candidateId|aiSummary|profileMatchScore|evaluationStatus|recommend\w+)$/,
];

const SAMPLES = 20;
/** A company that hired thousands is not read in full for a few samples. */
const MOST_LISTED = 1_000;

/** Everything that a mapping of employees may read, with samples from the latest hires. Reads only. */
export async function readSources(partner: PartnerClient, defined: readonly FieldDefinition[]): Promise<Source[]> {
  const people = await readLatest(partner, SAMPLES);
  const own = Object.entries(sourceRecords).flatMap(([record, { fields }]) =>
    fields.map((name) => ({ path: `${record}.${name}`, name, type: 'text', options: [] as readonly string[] })),
  );
  const custom = defined
    .filter(({ entity }) => entity === 'candidate' || entity === 'job')
    .map(({ entity, label, type, options }) => ({
      path: `${entity}.customFields[${label}]`,
      name: label,
      type,
      options: options ?? [],
    }));
  return [...own, ...custom]
    .filter(({ path }) => NEVER.every((pattern) => !pattern.test(path)))
    .map(({ path, name, type, options }) => {
      const samples = people.flatMap((sources) => valueOf(path, sources) ?? []);
      const isDate = type === 'date' || (samples.length > 0 && samples.every((one) => fits('date', one)));
      const isNumber = type === 'number' || (samples.length > 0 && samples.every((one) => typeof one === 'number'));
      const isList = type === 'multi-select' || samples.some((one) => Array.isArray(one));
      const kind: Source['type'] = isDate ? 'date' : isNumber ? 'number' : isList ? 'list' : 'text';
      return { path, meaning: OWN_MEANINGS[path] ?? meaningOf(name), type: kind, options, samples };
    });
}

function valueOf(path: string, sources: MappingSources): [Value] | undefined {
  const parsed = parseSourcePath(path);
  if ('wrong' in parsed) return undefined;
  const read = readSource(parsed, sources);
  return 'code' in read || read.value === undefined || read.value === '' ? undefined : [read.value];
}

/** The records of the latest hires, latest first; if nobody was hired yet, of the people closest to it. */
async function readLatest(partner: PartnerClient, most: number): Promise<MappingSources[]> {
  for (const stageType of stageTypes.toReversed()) {
    const ids: string[] = [];
    const pages = partner.pages(contract.jobCandidates.listByStageType, { query: { stageType } }, { priority: 'live' });
    for await (const { items } of pages) {
      ids.push(...items.map(({ jobCandidateDetails }) => jobCandidateDetails.id));
      if (ids.length >= MOST_LISTED) break;
    }
    if (ids.length === 0) continue;
    // Ids ascend, and no record says when a person was hired.
    const latest = ids.toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true })).slice(0, most);
    const fetched = await fetchJobCandidates({ partner }, latest);
    const { items: jobs } = await partner.readAll(contract.jobs.list, {}, { priority: 'live' });
    return fetched.flatMap(({ jobCandidate }) =>
      jobCandidate === undefined
        ? []
        : [
            {
              candidate: jobCandidate.candidate_details ?? undefined,
              job: jobs.find(({ id }) => id === jobCandidate.jobId),
              jobCandidate,
              application: undefined,
              onboarding: undefined,
            },
          ],
    );
  }
  return [];
}

/** How much a table looks like one of employees: the number of columns with a known meaning. */
export function likeness({ columns }: OwnTable): number {
  return columns.filter(({ name }) => Object.hasOwn(defaultColumns, meaningOf(name))).length;
}

/** Suggests a source for each column by name, type and values; uses each source once. Pure. */
export function suggestMapping({ columns }: OwnTable, sources: readonly Source[], startDate: string): Suggestion {
  const roles = rolesOf(columns);
  const taken = new Set<string>(Object.values(roles));
  const free = columns.filter(({ name }) => !taken.has(name));
  const used = new Set<string>();
  const found = new Map<string, Line>();
  const judges: readonly Judge[] = [byName(startDate), byOptions, bySamples];
  for (const judge of judges)
    for (const column of free) {
      if (found.has(column.name) || isMachinery(column.name)) continue;
      const hit = judge(
        column,
        sources.filter(({ path }) => !used.has(path)),
      );
      if (hit === undefined) continue;
      const line = lineOf(column, hit.source, hit.why);
      if (line === undefined) continue;
      found.set(column.name, line);
      used.add(hit.source.path);
    }
  return { roles, lines: withOwnNames(free.map((column) => found.get(column.name) ?? emptyLine(column))) };
}

/** Gives each line a unique name; if two columns mean the same, the filled one gets the mapping's name. */
export function withOwnNames(lines: readonly Line[]): Line[] {
  const names = new Map<string, string>();
  const filledFirst = lines.toSorted((a, b) => Number(isFilled(b)) - Number(isFilled(a)));
  for (const { column } of filledFirst) {
    const own = ownName(column.name);
    let name = [fieldOf(column.name), own].find((one) => !names.has(one));
    for (let count = 2; name === undefined; count += 1)
      name = names.has(`${own}${count}`) ? undefined : `${own}${count}`;
    names.set(name, column.name);
  }
  const fields = new Map([...names].map(([field, column]) => [column, field]));
  return lines.map((line) => ({ ...line, field: fields.get(line.column.name) ?? line.field }));
}

/** Timestamps and states that the HR system maintains itself. */
function isMachinery(name: string): boolean {
  return MACHINERY.some((pattern) => pattern.test(folded(name)));
}

const MACHINERY = [
  /^(created|updated|changed|modified|inserted|deleted)(at|on|by|date|time)?$/,
  /^(status|active|isactive|version|notes?)$/,
];

type Judge = (column: OwnColumn, sources: readonly Source[]) => { source: Source; why: string } | undefined;

function byName(startDate: string): Judge {
  return ({ name }, sources) => {
    const meaning = meaningOf(name);
    const hits = sources.filter((one) => (one.path === startDate ? 'startDate' : one.meaning) === meaning);
    // The partner's own field before a custom field, the person's before the job's.
    const [source] = hits.toSorted((a, b) => rank(a) - rank(b));
    return source === undefined ? undefined : { source, why: 'by its name' };
  };
}

function rank({ path, samples }: Source): number {
  return (samples.length === 0 ? 4 : 0) + (path.includes('customFields') ? 1 : 0) + (path.startsWith('job.') ? 2 : 0);
}

/** Finds a select field whose options match the column's values or allowed values. */
const byOptions: Judge = ({ options = [], samples }, sources) => {
  const there = new Set([...options, ...samples].map(folded));
  if (there.size === 0) return undefined;
  const hits = sources.filter(({ options: own }) => {
    const known = own.filter((one) => there.has(folded(one)));
    return own.length > 1 && known.length * 2 >= Math.min(own.length, there.size);
  });
  const [source] = hits;
  return source === undefined || hits.length > 1 ? undefined : { source, why: 'by its values' };
};

/** Forms that reveal a value's meaning, whatever its column is called. */
const FORMS: readonly [RegExp, string][] = [
  [/^\S+@\S+\.\S+$/, 'email'],
  [/^\+\d[\d ()-]{6,}$/, 'phone'],
];

const bySamples: Judge = ({ samples }, sources) => {
  if (samples.length === 0) return undefined;
  const form = FORMS.find(([pattern]) => samples.every((one) => pattern.test(one)));
  const source = form && sources.find(({ meaning }) => meaning === form[1]);
  return source === undefined ? undefined : { source, why: 'by its values' };
};

/** Whether a rule fills the column. */
export function isFilled({ from, constant }: Line): boolean {
  return from !== undefined || constant !== undefined;
}

/** Undefined if the types do not fit. */
function lineOf(column: OwnColumn, source: Source, why: string): Line | undefined {
  const transform = transformFor(column, source);
  if (transform === undefined) return undefined;
  const [sample] = source.samples;
  const value = sample === undefined ? undefined : applied(transform, sample);
  return {
    column,
    field: fieldOf(column.name),
    from: source.path,
    transform,
    ...(value === undefined ? {} : { sample: String(value) }),
    why,
  };
}

/** The line for a person's choice: any source they name is accepted. */
export function chosenLine(column: OwnColumn, source: Source): Line {
  return lineOf(column, source, 'as you chose') ?? { ...emptyLine(column), from: source.path, why: 'as you chose' };
}

export function constantLine(column: OwnColumn, constant: string): Line {
  return { ...emptyLine(column), constant, sample: constant, why: 'as you chose' };
}

export function emptyLine(column: OwnColumn): Line {
  const why = column.required ? 'required, and nothing fits: name something' : 'left as it is';
  return { column, field: fieldOf(column.name), transform: [], why };
}

function transformFor(column: OwnColumn, source: Source): TransformName[] | undefined {
  if (column.type === 'number') return source.samples.every((one) => fits('number', one)) ? ['number'] : undefined;
  if (column.type === 'boolean') return source.samples.every((one) => fits('boolean', one)) ? ['boolean'] : undefined;
  if (source.type === 'date') {
    const isDay = column.type === 'date' || column.samples.every((one) => fits('date', one));
    return isDay ? ['date'] : undefined;
  }
  if (column.type === 'date') return undefined;
  if (source.meaning === 'country' || source.meaning === 'jobcountry') {
    const isCode = column.samples.length === 0 || column.samples.every((one) => /^[A-Z]{2}$/.test(one));
    return isCode && source.samples.every((one) => fits('country', one)) ? ['country'] : [];
  }
  if (source.type === 'list') return ['join'];
  return ['givenName', 'familyName', 'email'].includes(source.meaning) ? ['trim'] : [];
}

function fits(name: 'date' | 'number' | 'boolean' | 'country', value: Value): boolean {
  return !('code' in transforms[name](value, undefined));
}

function applied(names: readonly TransformName[], value: Value): Value | undefined {
  let made: Value | undefined = value;
  for (const name of names) {
    const result: Transformed = made === undefined ? { value: made } : transforms[name](made, undefined);
    if ('code' in result) return undefined;
    made = result.value;
  }
  return made;
}

/** The mapping's name for this meaning, because people are recognised by these fields; otherwise the column's. */
function fieldOf(column: string): string {
  const meaning = meaningOf(column);
  return Object.hasOwn(defaultColumns, meaning) ? meaning : ownName(column);
}

function ownName(column: string): string {
  return column.replaceAll(/[^A-Za-z0-9]+([A-Za-z0-9])/g, (_all, letter: string) => letter.toUpperCase());
}

function rolesOf(columns: readonly OwnColumn[]): TableRoles {
  const meant = (meaning: string): string | undefined =>
    columns.find(({ name, type }) => meaningOf(name) === meaning && (meaning !== 'end' || type !== 'number'))?.name;
  const key = columns.find(({ isKey }) => isKey)?.name ?? columns.find(({ name }) => folded(name) === 'id')?.name;
  const number = meant('number');
  const idColumn = key ?? number ?? columns[0]?.name ?? 'id';
  const endColumn = meant('end');
  return {
    idColumn,
    numberColumn: number ?? idColumn,
    referenceColumn: meant('reference') ?? 'none',
    ...(endColumn === undefined ? {} : { endColumn }),
  };
}

/** Every hire needs these, whatever the table allows. */
const REQUIRED = new Set(['givenName', 'familyName', 'email', 'startDate']);
const SENSITIVE = /dateOfBirth|gender|nationality|salary/i;

/** A rule in a new mapping file. */
export interface NewRule {
  from?: string;
  constant?: string;
  transform?: string[];
  required?: boolean;
  sensitive?: boolean;
}

/** The part of a new tenant's files about the customer's own table. */
export async function newTenantTable(name: string, { roles, lines }: Suggestion) {
  const filled = lines.filter(isFilled);
  const left = lines.filter((line) => !isFilled(line)).map(({ column }) => column.name);
  const defaults = await loadMapping({ kind: 'sql', fields: fieldDefs({ columns: { ...defaultColumns } }) });
  const unused = Object.fromEntries(defaults.fields.map(({ target }) => [target, null]));
  const columns = filled.map(({ field, column }) => {
    const { name: own, type } = column;
    return [field, type === 'text' || type === 'other' ? { column: own } : { column: own, type }] as const;
  });
  const rules: Record<string, NewRule | null> = { ...unused };
  for (const line of filled) rules[line.field] = ruleOf(line);
  return {
    table: { table: name, ...roles },
    columns: Object.fromEntries(columns),
    rules,
    ...(left.length === 0 ? {} : { note: `Columns of ${name} that nothing fills: ${left.join(', ')}.` }),
  };
}

function ruleOf({ column, field, from, constant, transform }: Line): NewRule {
  const isRequired = from !== undefined && (column.required || REQUIRED.has(field));
  return {
    ...(from === undefined ? {} : { from }),
    ...(constant === undefined ? {} : { constant }),
    ...(transform.length === 0 ? {} : { transform }),
    ...(isRequired ? { required: true } : {}),
    ...(SENSITIVE.test(from ?? field) ? { sensitive: true } : {}),
  };
}

/** The employee that the last real hire would become. Values are personal data. */
export interface Rehearsal {
  jobCandidateId: string;
  /** The HR system has somebody with this e-mail; undefined if there is no e-mail to look for. */
  isThere?: boolean;
  fields: { field: string; place: string; from: string; value?: unknown; problem?: string }[];
}

/** Maps the last real hire, and looks them up in the HR system. Reads only; undefined if nobody has applied yet. */
export async function rehearseLastHire(tenant: Tenant): Promise<Rehearsal | undefined> {
  const partner = openPartner(tenant);
  try {
    const [latest] = await readLatest(partner, 1);
    if (latest === undefined) return undefined;
    const hris = await openHris(tenant, undefined);
    try {
      const signal = AbortSignal.timeout(CALL_MS);
      const own = await loadTenantMapping(tenant);
      const { mapping } = fitMapping(own, (await hris.describe?.('employee', signal)) ?? []);
      const { candidate = {}, jobCandidate = {} } = latest;
      const side = { partner, log: createLogger('command') };
      const sources = { ...latest, candidate: await withFieldValues(side, [mapping], { candidate, jobCandidate }) };
      const fields = mapping.fields.map((field): Rehearsal['fields'][number] => {
        const result = evaluateField(field, sources);
        const named = { field: field.target, place: field.def.place ?? field.target, from: field.source };
        if ('code' in result) return { ...named, problem: `${result.text} [${result.code}]` };
        return result.value === undefined ? named : { ...named, value: result.value };
      });
      const email = fields.find(({ field }) => field === 'email')?.value;
      const found =
        typeof email === 'string' ? await hris.employees.find({ by: 'email', value: email }, signal) : undefined;
      const isThere = found === undefined ? {} : { isThere: found.kind !== 'none' };
      return { jobCandidateId: String(latest['jobCandidate']?.['id']), ...isThere, fields };
    } finally {
      await hris.close();
    }
  } finally {
    await partner.close();
  }
}
