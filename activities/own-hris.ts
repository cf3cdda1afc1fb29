import { rejected } from '../src/errors.ts';
import { type Employee, type FindKey, type Found, type KnownEmployee, knownIn } from '../src/hire/hire.ts';
import type {
  ChangedEmployees,
  CreateResult,
  EmployeeChanges,
  EmployeeFiles,
  EmployeeRecord,
  Employees,
  HrisConnection,
  PendingCreates,
} from '../src/hris/port.ts';

/** Turns a call that takes an employee's id into one that takes the employee. */
type ForOwn<Call> = Call extends (id: string, ...rest: infer Rest) => infer Given
  ? (employee: Employee, ...rest: Rest) => Given
  : never;

type ById = 'update' | 'amend' | 'rehire' | 'terminate';
export type OwnRecord = EmployeeRecord<KnownEmployee>;

export interface OwnEmployees extends Pick<{ [Name in ById]: ForOwn<NonNullable<Employees[Name]>> }, 'update'> {
  find(key: FindKey, signal: AbortSignal): Promise<Found<KnownEmployee>>;
  isTaken?: Employees['isTaken'];
  create(...given: Parameters<Employees['create']>): Promise<CreateResult<KnownEmployee>>;
  read(employee: Employee, signal: AbortSignal): Promise<OwnRecord | undefined>;
  amend?: ForOwn<NonNullable<Employees['amend']>>;
  rehire?: ForOwn<NonNullable<Employees['rehire']>>;
  terminate?: ForOwn<NonNullable<Employees['terminate']>>;
}

/**
 * A tenant's open HR system, restricted to its own employees: an id does not say which HR system it belongs to, so
 * calls take the employee and refuse employees of another HR system before anything is sent.
 * @throws ConnectorError EMPLOYEE_ELSEWHERE (reject)
 */
export interface OwnHris extends Omit<HrisConnection, 'employees' | 'changes' | 'files' | 'pending'> {
  employees: OwnEmployees;
  changes?: Pick<EmployeeChanges, 'news'> & {
    since(...given: Parameters<EmployeeChanges['since']>): Promise<OwnChanges>;
  };
  files?: { deliver: ForOwn<EmployeeFiles['deliver']>; holds?: ForOwn<NonNullable<EmployeeFiles['holds']>> };
  pending?: { resolve(...given: Parameters<PendingCreates['resolve']>): Promise<CreateResult<KnownEmployee>> };
}

export interface OwnChanges extends Omit<ChangedEmployees, 'employees'> {
  employees: OwnRecord[];
}

/** Wraps the HR system of this connection. */
export function ownHris(connection: string, hris: HrisConnection): OwnHris {
  const { employees, changes, files, pending, ...rest } = hris;
  const { isTaken, update, amend, rehire, terminate } = employees;
  const idOf = (employee: Employee): string => {
    const { id, connection: elsewhere } = employee;
    if (elsewhere === connection) return id;
    throw rejected(
      'EMPLOYEE_ELSEWHERE',
      `Employee ${id} is in the HR system "${elsewhere}", and this tenant now uses "${connection}", where that id ` +
        'may belong to somebody else. Nothing was read or written.',
    );
  };
  const known = <Given extends { ref: { id: string; number?: string } }>(given: Given) => ({
    ...given,
    ref: knownIn(connection, given.ref),
  });
  const made = (result: CreateResult): CreateResult<KnownEmployee> =>
    result.kind === 'created' ? known(result) : result;
  return {
    ...rest,
    employees: {
      async find(key, signal) {
        const found = await employees.find(key, signal);
        if (found.kind === 'one') return known(found);
        return found.kind === 'none' ? found : { ...found, refs: found.refs.map((ref) => knownIn(connection, ref)) };
      },
      create: async (...given) => made(await employees.create(...given)),
      async read(employee, signal) {
        const record = await employees.read(idOf(employee), signal);
        return record && known(record);
      },
      update: async (employee, ...given) => update(idOf(employee), ...given),
      ...(isTaken && { isTaken: async (...given) => isTaken(...given) }),
      ...(amend && { amend: async (employee, ...given) => amend(idOf(employee), ...given) }),
      ...(rehire && { rehire: async (employee, ...given) => rehire(idOf(employee), ...given) }),
      ...(terminate && { terminate: async (employee, ...given) => terminate(idOf(employee), ...given) }),
    },
    ...(changes && {
      changes: {
        ...changes,
        async since(...given) {
          const page = await changes.since(...given);
          return { ...page, employees: page.employees.map(known) };
        },
      },
    }),
    ...(files && { files: ownFiles(files, idOf) }),
    ...(pending && { pending: { resolve: async (...given) => made(await pending.resolve(...given)) } }),
  };
}

function ownFiles(
  { deliver, holds }: EmployeeFiles,
  idOf: (employee: Employee) => string,
): NonNullable<OwnHris['files']> {
  return {
    deliver: async (employee, ...given) => deliver(idOf(employee), ...given),
    ...(holds && { holds: async (employee, ...given) => holds(idOf(employee), ...given) }),
  };
}
