import type { ApiRequest, ApiResponse } from '../../../src/sandbox/context.ts';

/** Kinds of custom fields (section 2.5); `digits` is a text that carries a number. */
export type FieldKind = 'text' | 'textarea' | 'number' | 'date' | 'select' | 'multi-select' | 'checkbox' | 'digits';

export interface Definition {
  id: string;
  label: string;
  kind: FieldKind;
  options?: string[] | undefined;
}

/** What this partner does that the specification leaves open, or does not say. */
export interface PartnerHabits {
  refusesNull: boolean;
  trims: boolean;
  capitals: boolean;
  sortsLists: boolean;
  /** Decimals that a number keeps. */
  decimals: number;
  /** A number is shown as text, with two decimals where it has any. */
  numbersAsText: boolean;
  /** Values of a definition that is gone are still shown. */
  showsOrphans: boolean;
  /** A list is stored as JSON text (section 2.5), or shown as a list. */
  listsAsText: boolean;
}

/** Somebody at the partner: their profile, their application unless it was deleted, their values by definition. */
interface Somebody {
  id: string;
  jobCandidateId: string | undefined;
  profile: Record<string, unknown>;
  values: Map<string, { id: number; value: unknown }>;
}

/** A place of one record: a field of the profile, or a definition's id. */
export interface PartnerPlace {
  candidateId: string;
  place: string;
}

/** What an answer shows of somebody: their profile, their values. */
export type Shown = 'profile' | 'values';

/** Told of what a request read and wrote. */
export interface Told {
  read: (candidateId: string, shown: readonly Shown[]) => void;
  wrote: (at: PartnerPlace, value: unknown) => void;
}

const PROFILE = ['city', 'email', 'country'];
const JOB = 700;

/**
 * A hiring platform made of the specification's words and of nothing else: the endpoints that an exchange of people
 * uses, with habits of its own.
 */
export class StrangePartner {
  readonly definitions: Definition[] = [];
  readonly #people = new Map<string, Somebody>();
  readonly #habits: PartnerHabits;
  #ids = 100;

  constructor(habits: PartnerHabits) {
    this.#habits = habits;
  }

  define(label: string, kind: FieldKind, options?: string[]): Definition {
    const definition: Definition = { id: `cf${this.#nextId()}`, label, kind, options };
    this.definitions.push(definition);
    return definition;
  }

  add(nth: number): { candidateId: string; jobCandidateId: string } {
    const [id, jobCandidateId] = [String(this.#nextId()), String(this.#nextId())];
    const profile = { firstName: 'Ada', lastName: `Number ${nth}`, email: null, city: null, country: 'DE' };
    this.#people.set(id, { id, jobCandidateId, profile, values: new Map() });
    return { candidateId: id, jobCandidateId };
  }

  /** Sets one place, as a person does in the platform itself; null empties it. */
  edit({ candidateId, place }: PartnerPlace, value: unknown): void {
    const one = this.#people.get(candidateId);
    if (one === undefined || (place === 'email' && this.#isTaken(candidateId, value))) return;
    const stored = this.kept(place === 'email' ? 'email' : this.#kindOf(place), value);
    if (PROFILE.includes(place)) one.profile[place] = stored;
    else if (stored === null) one.values.delete(place);
    else one.values.set(place, { id: one.values.get(place)?.id ?? this.#nextId(), value: stored });
  }

  valueAt({ candidateId, place }: PartnerPlace): unknown {
    const one = this.#people.get(candidateId);
    if (PROFILE.includes(place)) return one?.profile[place] ?? null;
    return this.#kindOf(place) === undefined ? null : (one?.values.get(place)?.value ?? null);
  }

  /** What a place of this kind makes of a value. */
  kept(kind: FieldKind | 'email' | undefined, value: unknown): unknown {
    const { decimals, sortsLists } = this.#habits;
    if (value === null || value === '' || (Array.isArray(value) && value.length === 0)) return null;
    if (typeof value === 'string') return this.#textKept(kind, value);
    if (typeof value === 'number') return Number(value.toFixed(decimals));
    return Array.isArray(value) && sortsLists ? [...(value as string[])].sort().reverse() : value;
  }

  deleteApplication(candidateId: string): void {
    const one = this.#people.get(candidateId);
    if (one !== undefined) one.jobCandidateId = undefined;
  }

  answer({ method, url, body }: ApiRequest, told: Told): ApiResponse {
    const [path = '', query = ''] = url.replace('/v1/partner', '').split('?');
    const sent = body === undefined || body === '' ? undefined : (JSON.parse(body) as Record<string, unknown>);
    const [, family, id = ''] = path.split('/');
    if (path === '/job-candidates/bulk-fetch') return ok(this.#applications(sent?.['jobCandidateIds'], told));
    if (path === '/candidates/bulk-fetch') return ok(this.#candidates(sent?.['candidateIds'], told));
    if (path === '/custom-field-values/bulk') return this.#upsert(sent as unknown as Entry[], told);
    switch (`${method} ${family}`) {
      case 'GET custom-fields':
        return ok(this.definitions.map(shownDefinition));
      case 'GET custom-field-values':
        return this.#listValues(new URLSearchParams(query).get('entityId') ?? '', told);
      case 'DELETE custom-field-values':
        return this.#deleteValue(Number(id), told);
      case 'PATCH candidates':
        return this.#patch(id, sent ?? {}, told);
      default:
        return refused(404, 'NOT_FOUND');
    }
  }

  #applications(ids: unknown, { read }: Told): unknown[] {
    return (ids as unknown[]).flatMap((id) => {
      const one = [...this.#people.values()].find(({ jobCandidateId }) => jobCandidateId === String(id));
      if (one === undefined) return [];
      read(one.id, ['profile', 'values']);
      const application = { id: Number(one.jobCandidateId), jobId: JOB, candidateId: Number(one.id) };
      return [{ ...application, candidate_details: profileOf(one), customFields: this.#fieldsOf(one) }];
    });
  }

  #candidates(ids: unknown, { read }: Told): unknown[] {
    const found = (ids as unknown[]).flatMap((id) => this.#people.get(String(id)) ?? []);
    for (const { id } of found) read(id, ['profile']);
    return found.map(profileOf);
  }

  #fieldsOf({ values }: Somebody): Record<string, unknown> {
    return Object.fromEntries(
      [...values].flatMap(([id, { value }]) => {
        const definition = this.definitions.find((one) => one.id === id);
        if (definition === undefined) return this.#habits.showsOrphans ? [[id, { label: 'Former', value }]] : [];
        const { label, kind } = definition;
        return [[id, { label, value: this.#shown(kind, value), parentSection: null }]];
      }),
    );
  }

  #upsert(entries: readonly Entry[], { wrote }: Told): ApiResponse {
    for (const { customFieldId, value, entityId, entityType } of entries) {
      const definition = this.definitions.find(({ id }) => id === customFieldId);
      if (definition === undefined) return refused(404, 'CUSTOM_FIELD_NOT_FOUND');
      if (entityType !== 'candidate' || !this.#people.has(String(entityId))) return refused(404, 'NOT_FOUND');
      if (value === null ? this.#habits.refusesNull : !fits(definition, value)) return refused(400, 'INVALID_REQUEST');
    }
    for (const { customFieldId: place, value, entityId } of entries) {
      const at = { candidateId: String(entityId), place };
      this.edit(at, value);
      wrote(at, this.valueAt(at));
    }
    return ok([]);
  }

  #listValues(candidateId: string, { read }: Told): ApiResponse {
    const one = this.#people.get(candidateId);
    if (one === undefined) return refused(404, 'NOT_FOUND');
    read(candidateId, ['values']);
    const key = { entityType: 'candidate', entityId: candidateId, parentEntityId: null };
    const rows = [...one.values].flatMap(([customFieldId, { id, value }]) => {
      const kind = this.#kindOf(customFieldId);
      const isShown = kind !== undefined || this.#habits.showsOrphans;
      return isShown ? [{ id, customFieldId, ...key, value: this.#shown(kind, value) }] : [];
    });
    return ok(rows);
  }

  #deleteValue(valueId: number, { wrote }: Told): ApiResponse {
    for (const { id: candidateId, values } of this.#people.values())
      for (const [place, { id }] of values)
        if (id === valueId) {
          values.delete(place);
          wrote({ candidateId, place }, null);
          return ok(null);
        }
    return refused(404, 'NOT_FOUND');
  }

  #patch(candidateId: string, body: Record<string, unknown>, { wrote }: Told): ApiResponse {
    const one = this.#people.get(candidateId);
    if (one === undefined) return refused(404, 'NOT_FOUND');
    const { email } = body;
    if ('email' in body && (typeof email !== 'string' || email === '')) return refused(400, 'INVALID_REQUEST');
    if (this.#isTaken(candidateId, email)) return refused(409, 'EMAIL_CONFLICT');
    for (const [place, value] of Object.entries(body)) {
      const at = { candidateId, place };
      this.edit(at, value);
      wrote(at, this.valueAt(at));
    }
    return ok(profileOf(one));
  }

  /** Section 2.3: an address is one candidate's. */
  #isTaken(candidateId: string, email: unknown): boolean {
    if (typeof email !== 'string') return false;
    const address = this.kept('email', email);
    return [...this.#people.values()].some(({ id, profile }) => id !== candidateId && profile['email'] === address);
  }

  #kindOf(place: string): FieldKind | undefined {
    return this.definitions.find(({ id }) => id === place)?.kind;
  }

  #textKept(kind: FieldKind | 'email' | undefined, value: string): unknown {
    const { trims, capitals } = this.#habits;
    // Section 2.3: an address is unique whatever its capitals.
    if (kind === 'email') return value.trim().toLowerCase();
    const text = trims ? value.trim() : value;
    if (text === '') return null;
    return capitals && kind === 'text' ? text.toUpperCase() : text;
  }

  #shown(kind: FieldKind | undefined, value: unknown): unknown {
    const { numbersAsText, listsAsText } = this.#habits;
    if (typeof value === 'number' && numbersAsText) return Number.isInteger(value) ? String(value) : value.toFixed(2);
    return kind === 'multi-select' && listsAsText ? JSON.stringify(value) : value;
  }

  #nextId(): number {
    return (this.#ids += 1);
  }
}

interface Entry {
  customFieldId: string;
  value: unknown;
  entityId: unknown;
  entityType: string;
}

function profileOf({ id, profile }: Somebody): Record<string, unknown> {
  return { id: Number(id), ...profile };
}

function shownDefinition({ id, label, kind, options }: Definition) {
  const common = { id, entityType: 'candidate', fieldLabel: label, parentSection: 'Miscellaneous' };
  return { ...common, fieldType: kind === 'digits' ? 'text' : kind, options: options ?? null, description: null };
}

function fits({ kind, options = [] }: Definition, value: unknown): boolean {
  if (kind === 'number') return typeof value === 'number';
  if (kind === 'checkbox') return typeof value === 'boolean';
  if (kind === 'multi-select') return Array.isArray(value) && value.every((one) => options.includes(String(one)));
  if (kind === 'select') return options.includes(String(value));
  return typeof value === 'string';
}

function ok(data: unknown): ApiResponse {
  return answer(200, { status: 'success', data });
}

function refused(status: number, code: string): ApiResponse {
  return answer(status, { error: { code, type: 'validation_error', message: 'Refused.' } });
}

function answer(status: number, body: unknown): ApiResponse {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}
