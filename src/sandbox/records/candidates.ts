import { type Context, effect, iso, notFound, refuse } from '../context.ts';
import { emit } from './deliveries.ts';
import { jobCandidateIdsOf, removeJobCandidates } from './job-candidates.ts';

/** The flattened profile of section 2.3, always with every key. */
export interface Candidate {
  id: number;
  firstName: string | null;
  lastName: string | null;
  email: string;
  phone: string | null;
  [field: string]: unknown;
}

interface Row {
  id: number;
  body: string;
}

/** Section 2.3, in the order of answers; defaults of a new profile. */
const EMPTY = {
  firstName: null,
  lastName: null,
  email: null,
  phone: null,
  currentJobTitle: null,
  currentCompany: null,
  city: null,
  country: null,
  skills: [],
  resume: null,
  majors: [],
  summary: null,
  languages: [],
  educations: [],
  workExperiences: [],
  projectExperiences: [],
  certifications: [],
  githubUrl: null,
  linkedin: null,
  coverLetter: null,
  gender: null,
  dateOfBirth: null,
  nationality: null,
  industry: null,
  category: null,
} as const;

const PROFILE_FIELDS: readonly string[] = Object.keys(EMPTY);

/** E-mails are compared ignoring case (C9, assumed). */
export function emailKey(email: string): string {
  return email.trim().toLowerCase();
}

function profileOf(input: Record<string, unknown>): Record<string, unknown> {
  const known = Object.entries(input).filter(([key, value]) => PROFILE_FIELDS.includes(key) && value !== undefined);
  const profile: Record<string, unknown> = Object.fromEntries(known);
  for (const list of ['skills', 'majors', 'languages']) {
    const given = profile[list];
    if (typeof given === 'string')
      profile[list] = given
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '');
  }
  if (typeof profile['email'] === 'string') profile['email'] = emailKey(profile['email']);
  return profile;
}

/** Stores a new profile; the e-mail must be free, see `candidateByEmail`. */
export function createCandidate(ctx: Context, input: Record<string, unknown> & { email: string }): Candidate {
  const { state, company, now } = ctx;
  const id = state.nextId('candidate', 200_001);
  const candidate = {
    id,
    ...EMPTY,
    ...profileOf(withSubIds(ctx, input)),
    createdAt: iso(now),
    updatedAt: iso(now),
  } as unknown as Candidate;
  state.run(
    `insert into candidates (id, company_id, email, created_at, updated_at, version, body)
      values (?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    emailKey(input.email),
    now,
    now,
    nextVersion(ctx),
    JSON.stringify(candidate),
  );
  touchPages(ctx);
  effect(ctx, 'candidate', id);
  return candidate;
}

/** Numbers each change of a profile, for the index of searches. */
function nextVersion({ state }: Context): number {
  return state.nextId('candidate-version');
}

export function candidateByEmail(ctx: Context, email: string): Candidate | undefined {
  const row = ctx.state.one<Row>(
    'select id, body from candidates where company_id = ? and email = ?',
    ctx.company.id,
    emailKey(email),
  );
  return row === undefined ? undefined : (JSON.parse(row.body) as Candidate);
}

/** 404 when unknown or another company's. */
export function findCandidate(ctx: Context, id: number): Candidate {
  return candidateById(ctx, id) ?? raise(notFound('Candidate'));
}

export function candidateById(ctx: Context, id: number): Candidate | undefined {
  const text = storedText(ctx, id);
  return text === undefined ? undefined : (JSON.parse(text) as Candidate);
}

/** A profile as stored; own-resumes.ts turns it into the answer. */
export function storedText(ctx: Context, id: number): string | undefined {
  return ctx.state.one<Row>('select id, body from candidates where id = ? and company_id = ?', id, ctx.company.id)
    ?.body;
}

/** Writes profile fields; 409 when the e-mail is another candidate's (C3, assumed). `also`: fields kept elsewhere. */
export function updateCandidate(
  ctx: Context,
  id: number,
  input: Record<string, unknown>,
  also: readonly string[] = [],
): Candidate {
  const before = findCandidate(ctx, id);
  const changes = profileOf(withSubIds(ctx, input));
  const email = typeof changes['email'] === 'string' ? changes['email'] : before.email;
  const holder = candidateByEmail(ctx, email);
  if (holder !== undefined && holder.id !== id)
    throw refuse('EMAIL_CONFLICT', 'Another candidate of the company has this e-mail');
  const candidate = save(ctx, { ...before, ...changes, email });
  emit(ctx, 'candidate.updated', {
    candidateId: id,
    updatedFields: [...Object.keys(changes), ...also],
    scope: 'profile',
  });
  return candidate;
}

/** Fills the fields that the profile leaves empty; nobody edited it, so there is no candidate.updated. */
export function fillCandidate(ctx: Context, id: number, given: Record<string, unknown>): void {
  const before = findCandidate(ctx, id);
  const missing = Object.entries(given).filter(([field]) => isEmpty(before[field]));
  if (missing.length > 0) save(ctx, { ...before, ...profileOf(withSubIds(ctx, Object.fromEntries(missing))) });
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

function save(ctx: Context, profile: Candidate): Candidate {
  const candidate: Candidate = { ...profile, updatedAt: iso(ctx.now) };
  ctx.state.run(
    'update candidates set email = ?, updated_at = ?, version = ?, body = ? where id = ?',
    emailKey(candidate.email),
    ctx.now,
    nextVersion(ctx),
    JSON.stringify(candidate),
    candidate.id,
  );
  effect(ctx, 'candidate-updated', candidate.id);
  return candidate;
}

/** Deletes people from the company: one candidate.removed_from_job per job (section 6). */
export function deleteCandidates(ctx: Context, ids: readonly number[]): void {
  removeJobCandidates(
    ctx,
    ids.flatMap((id) => jobCandidateIdsOf(ctx, findCandidate(ctx, id).id)),
  );
  for (const id of ids) {
    ctx.state.run('delete from candidates where id = ? and company_id = ?', id, ctx.company.id);
    effect(ctx, 'candidate-removed', id);
  }
  touchPages(ctx);
}

const ENTRY_LISTS = ['educations', 'workExperiences', 'projectExperiences', 'certifications'] as const;

/** Educations, work experiences and the like get ids of their own: nested custom field values hang on them. */
function withSubIds(ctx: Context, input: Record<string, unknown>): Record<string, unknown> {
  const lists = ENTRY_LISTS.flatMap((key) =>
    Array.isArray(input[key]) ? [{ key, entries: input[key] as unknown[] }] : [],
  );
  const count = lists.reduce((sum, { entries }) => sum + entries.length, 0);
  if (count === 0) return input;
  let id = ctx.state.nextId('profile-entry', 900_001, count);
  const withId = (entry: unknown): unknown =>
    typeof entry === 'object' && entry !== null && !('id' in entry) ? { id: id++, ...entry } : entry;
  return { ...input, ...Object.fromEntries(lists.map(({ key, entries }) => [key, entries.map(withId)])) };
}

/** Drops the cached index of a company's candidate ids. */
function touchPages(ctx: Context): void {
  candidateIndexes.get(ctx.state)?.delete(ctx.company.id);
}

const candidateIndexes = new WeakMap<object, Map<number, Int32Array>>();

/**
 * All candidate ids of the company, ascending. Kept in memory (0.4 MB for 100,000) because page 900 costs SQLite 90,000
 * steps by OFFSET, and 100 by id range. Read in a call of its own, never after a write in the same transaction: a
 * rollback would leave it wrong.
 */
export function candidateIds(ctx: Context): Int32Array {
  let indexes = candidateIndexes.get(ctx.state);
  if (indexes === undefined) {
    indexes = new Map();
    candidateIndexes.set(ctx.state, indexes);
  }
  const known = indexes.get(ctx.company.id);
  if (known !== undefined) return known;
  const ids = Int32Array.from(
    ctx.state.all<{ id: number }>('select id from candidates where company_id = ? order by id', ctx.company.id),
    (row) => row.id,
  );
  indexes.set(ctx.company.id, ids);
  return ids;
}

function raise(error: Error): never {
  throw error;
}
