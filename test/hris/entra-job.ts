/** What an upload asks for one person. */
export interface Operation {
  externalId: string;
  data: Json;
}

export type Json = Record<string, unknown>;

/** A user in Graph's form. */
export type EntraUser = Json & { id: string };

/** The provisioning app, as the pages call its parts. */
export const ENTRA = {
  directory: '74beb175-3b80-4b63-b9d5-6f0b76082b16',
  clientId: 'c1e4f4b8-0d57-4a6c-8a0c-9d2f6e1b7a55',
  clientSecret: 'entra~secret',
  servicePrincipal: '6cc35b93-185a-4485-a519-50c09549f3ad',
  job: 'API2AAD.b16687d38faf42adb29892cdcaf01c6e.1a03de52-b9c3-4e2c-a1e3-9145aaa8e530',
} as const;
const DOMAIN = 'contoso.example';
export const CORE = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const EXTENSION = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
/** Added to the schema of the job. */
const OWN = 'urn:ietf:params:scim:schemas:extension:hirebridge:1.0:User';
const LENGTHS: Readonly<Record<string, number>> = {
  givenName: 64,
  surname: 64,
  displayName: 256,
  department: 64,
  jobTitle: 128,
  mobilePhone: 64,
  city: 128,
  country: 128,
  employeeId: 16,
};

export interface JobSettings {
  /** So much of its time passes with each request, and with each operation. */
  stepMs?: number;
  /** Persons whose operations wait until they are told. */
  keeps?: (externalId: string) => boolean;
  /** The rule by which the job leaves people out. */
  isInScope?: (data: Json) => boolean;
}

/** What an operation did to whom; undefined if nothing. */
type Outcome = { action: string; status: string; user?: EntraUser | undefined; code?: string; reason?: string };

/** A provisioning job: it carries out what was accepted, one after the other, and writes its log. */
export class EntraJob {
  readonly users = new Map<string, EntraUser>();
  readonly log: Json[] = [];
  readonly accepted: Operation[] = [];
  now = Date.parse('2026-03-02T08:00:00Z');
  readonly #waiting: Operation[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #settings: Required<JobSettings>;
  #last = 0;

  constructor({ stepMs = 60_000, keeps = () => false, isInScope = () => true }: JobSettings) {
    this.#settings = { stepMs, keeps, isInScope };
  }

  nextId(): string {
    this.#last += 1;
    return `00000000-0000-4000-8000-${String(this.#last).padStart(12, '0')}`;
  }

  step(): void {
    this.now += this.#settings.stepMs;
  }

  accept(operation: Operation): void {
    this.accepted.push(operation);
    this.#waiting.push(operation);
    if (this.#settings.keeps(operation.externalId)) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#carryOut(operation, false);
    }, 20);
    this.#timers.add(timer);
  }

  /** Carries out what waits for this person; if `isBroken`, the user's domain is not one of the directory. */
  settle(externalId: string, isBroken: boolean): void {
    for (const one of this.#waiting.filter((operation) => operation.externalId === externalId))
      this.#carryOut(one, isBroken);
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** The log says what became of an operation, and nothing else does. */
  #carryOut(operation: Operation, isBroken: boolean): void {
    const place = this.#waiting.indexOf(operation);
    if (place === -1) return;
    this.#waiting.splice(place, 1);
    this.step();
    const nextId = (): string => this.nextId();
    const isMeant = this.#settings.isInScope(operation.data);
    const done = isMeant ? provision(this.users, operation, { isBroken, nextId }) : OUT_OF_SCOPE;
    this.log.push(entryOf(operation, done, { at: this.now, id: nextId() }));
  }
}

const OUT_OF_SCOPE: Outcome = { action: 'other', status: 'skipped' };

/** Creates or changes the user of an operation, by the attribute mappings of the job. */
function provision(
  users: Map<string, EntraUser>,
  { externalId, data }: Operation,
  { isBroken, nextId }: { isBroken: boolean; nextId: () => string },
): Outcome {
  const known = [...users.values()].find((one) => extensionsOf(one)['extensionAttribute15'] === externalId);
  const action = known === undefined ? 'create' : data['active'] === false ? 'disable' : 'update';
  const values = mapped(data);
  const failed = (code: string, reason: string): Outcome => ({ action, status: 'failure', code, reason });
  const { userPrincipalName: name, displayName } = values;
  if (isBroken || (name !== undefined && !String(name).endsWith(`@${DOMAIN}`)))
    return failed('AzureActiveDirectoryInvalidUserPrincipalName', `The domain of '${String(name)}' does not exist.`);
  if (known === undefined && (name === undefined || displayName === undefined))
    return failed('AzureActiveDirectoryRequiredAttributeMissing', 'A property that a new user needs is missing.');
  const isTaken = [...users.values()].some(
    (one) => one !== known && String(one['userPrincipalName']).toLowerCase() === String(name).toLowerCase(),
  );
  if (name !== undefined && isTaken)
    return failed('AzureActiveDirectoryDuplicateUserPrincipalName', `Another object has the value '${String(name)}'.`);
  const [long] = Object.entries(values).find(([key, value]) => String(value).length > (LENGTHS[key] ?? 1_024)) ?? [];
  if (long !== undefined)
    return failed('AzureActiveDirectoryInvalidValue', `${long} '${String(values[long])}' is too long.`);
  const id = known?.id ?? nextId();
  const isSame = known !== undefined && Object.entries(values).every(([key, value]) => isEqual(known[key], value));
  const extensions = { ...extensionsOf(known), extensionAttribute15: externalId };
  const user = { ...EMPTY, ...known, ...values, id, onPremisesExtensionAttributes: extensions };
  users.set(id, user);
  return isSame ? { action: 'other', status: 'skipped', user } : { action, status: 'success', user };
}

function isEqual(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

const EMPTY = {
  accountEnabled: true,
  mail: null,
  otherMails: [],
  mobilePhone: null,
  employeeId: null,
  department: null,
};

function extensionsOf(user: Json | undefined): Json {
  return (user?.['onPremisesExtensionAttributes'] ?? {}) as Json;
}

/**
 * Attributes that are left out, null or empty change nothing, because "Flow null values" is off. Of lists only what is
 * of type work is processed.
 */
function mapped(data: Json): Json {
  const of = (value: unknown): Json => (value ?? {}) as Json;
  const listed = (name: string): Json[] => (data[name] ?? []) as Json[];
  const ofWork = (name: string): Json => of(listed(name).find((item) => item['type'] === 'work'));
  const { email, mobilePhone } = of(data[OWN]);
  const work = ofWork('addresses');
  const values: Json = {
    userPrincipalName: data['userName'],
    displayName: data['displayName'],
    givenName: of(data['name'])['givenName'],
    surname: of(data['name'])['familyName'],
    accountEnabled: data['active'],
    jobTitle: data['title'],
    mail: ofWork('emails')['value'],
    otherMails: email ? [email] : undefined,
    mobilePhone,
    city: work['locality'],
    country: work['country'],
    department: of(data[EXTENSION])['department'],
  };
  return Object.fromEntries(Object.entries(values).filter(([, value]) => ![undefined, null, ''].includes(value as '')));
}

/** An entry as "List provisioningObjectSummary" shows it. */
function entryOf({ externalId, data }: Operation, done: Outcome, { at, id }: { at: number; id: string }): Json {
  const { action, status, user, code, reason } = done;
  const identity = { displayName: data['displayName'] ?? '', identityType: 'User', details: {} };
  return {
    id,
    activityDateTime: new Date(at).toISOString().replace(/\.\d+Z$/, 'Z'),
    jobId: ENTRA.job,
    provisioningAction: action,
    provisioningStatusInfo: {
      status,
      errorInformation:
        code === undefined
          ? null
          : { errorCode: code, reason, errorCategory: 'nonServiceFailure', additionalDetails: null },
    },
    provisioningSteps: [
      { name: 'EntryImport', provisioningStepType: 'import', status: 'success', description: 'Received User from API' },
      status === 'skipped' && user === undefined
        ? {
            name: 'EntrySynchronizationSkip',
            provisioningStepType: 'scoping',
            status: 'skipped',
            description: `The User '${String(data['displayName'])}' is not in scope.`,
          }
        : { name: 'EntryExport', provisioningStepType: 'export', status, description: 'User' },
    ],
    servicePrincipal: { id: ENTRA.servicePrincipal, displayName: 'API-driven provisioning' },
    sourceIdentity: { ...identity, id: externalId },
    targetIdentity: { ...identity, id: user?.id ?? '' },
  };
}
