import { isConnectorError, rejected } from '../../errors.ts';
import type { EmployeeFields } from '../../hire/hire.ts';
import type { WriteOptions } from '../port.ts';
import type { Defined, DefinedLine } from './line.ts';
import type { CallPlan, StepPlan } from './load-definition.ts';
import { idOf } from './record.ts';
import type { Values } from './template.ts';
import { unlessAbsent, unreadable } from './unreadable.ts';

/**
 * Makes or changes the parts of an employee that have records of their own, before the employee itself; returns their
 * ids. Parts made earlier for this reference are found again, so only the last write, the employee, must happen once.
 */
export async function takeSteps(
  { definition, line }: Defined,
  { fields, reference, raw }: { fields: EmployeeFields; reference?: string; raw?: unknown },
  { signal, beforeSend }: Pick<WriteOptions, 'signal' | 'beforeSend'>,
): Promise<Values> {
  const ids: Record<string, unknown> = {};
  for (const { name, fields: keys, from, find, create, update } of definition.steps) {
    const written = keys.filter((key) => fields[key] !== undefined && (raw !== undefined || fields[key] !== null));
    const isNeeded = written.length > 0 || (raw === undefined && keys.length === 0);
    const values = withFields(fields, { ...ids, reference });
    const held = raw === undefined ? undefined : await from?.(raw);
    let id = isNeeded ? partOf(held, definition.reading, `${name}.from`) : idOf(held);
    if (isNeeded && id !== undefined && update !== undefined)
      await line.send({ plan: update, values: { ...values, id }, signal, beforeSend, sent: fields });
    else if (isNeeded && (keys.length === 0 || written.some((key) => fields[key] !== null))) {
      // Reuses parts made earlier and parts that others share; without a reference only the latter.
      const look = async (): Promise<string | undefined> =>
        find && (reference !== undefined || from === undefined) ? findPart(line, find, values, signal) : undefined;
      id ??= await look();
      // A part that is found again can be repeated after a lost answer: only the employee must be created once.
      const made = { idempotent: find !== undefined, sent: fields, makes: true, signal, beforeSend };
      id ??= await line.send({ plan: create, values, ...made }).then(
        async (answer) => {
          const given = idOf(await create.id(answer));
          if (given !== undefined) return given;
          throw unreadable(create.what, 'without an id', `"${create.purpose}.id"`, answer.at.requestId);
        },
        (error: unknown) => unlessThere(error, look),
      );
    } else if (isNeeded) {
      ids[name] = null;
      continue;
    }
    ids[name] = id;
  }
  return ids;
}

/** A 404 alone proves nothing, as the path may be wrong: only a row of `errors` says that a part is not there. */
async function findPart(
  line: DefinedLine,
  plan: NonNullable<StepPlan['find']>,
  values: Values,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await line.send({ plan, values, signal, isSearch: true }).catch(unlessAbsent);
  return answer === undefined ? undefined : partOf(await plan.id(answer.body), plan, `${plan.purpose}.id`);
}

/** The id of a part; a path through a list gives a list. Undefined if there is none: then the part is made. */
function partOf(given: unknown, { what }: CallPlan, key: string): string | undefined {
  const [only, ...others] = new Set([given].flat());
  if (others.length > 0)
    throw rejected(
      'HRIS_UNREADABLE_ANSWER',
      `${what} was answered with several parts, and nobody knows which one is meant. Leave one of them there, or ` +
        `name one in "${key}" of the definition, such as the first: departments[0].id.`,
    );
  const id = idOf(only);
  if (id === undefined && typeof only === 'object' && only !== null)
    throw unreadable(what, 'with a part whose id is neither text nor a number', `"${key}"`);
  return id;
}

/**
 * Looks again where the answer is that it exists: an earlier request may have made it, or somebody else at the same
 * moment. What is not found then belongs to another record.
 */
export async function unlessThere<T>(error: unknown, look: () => Promise<T | undefined>): Promise<T> {
  if (!isConnectorError(error, 'ALREADY_EXISTS')) throw error;
  const found = await look();
  if (found !== undefined) return found;
  const { message, details = {}, status, requestId } = error;
  throw rejected(
    'INVALID_VALUE',
    `${message} It was looked for and is not ours: a value that must be unique is taken.`,
    { details, status, requestId, cause: error },
  );
}

export function withFields(fields: EmployeeFields, values: Values): Values {
  const named = Object.entries(fields).map(([key, value]) => [`fields.${key}`, value]);
  return { ...Object.fromEntries(named), ...values };
}
