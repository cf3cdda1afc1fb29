import type { OwnHris } from '../../../activities/own-hris.ts';
import { ConnectorError } from '../../../src/errors.ts';
import { stableUuid } from '../../../src/sandbox/random.ts';

/** Of ten creates and rehires two are made and never answered, and one never arrives: the same ones for a seed. */
export function losingAnswers(hris: OwnHris, seed: number): OwnHris {
  const { create, rehire } = hris.employees;
  const attempts = new Map<string, number>();
  async function send<T>(what: string, call: () => Promise<T>): Promise<T> {
    const attempt = (attempts.get(what) ?? 0) + 1;
    attempts.set(what, attempt);
    const chance = Number.parseInt(stableUuid(seed, what, attempt).slice(0, 8), 16) / 2 ** 32;
    if (chance < 0.1) throw noAnswer();
    const result = await call();
    if (chance < 0.3) throw noAnswer();
    return result;
  }
  return {
    ...hris,
    employees: {
      ...hris.employees,
      create: (fields, reference, options) => send(reference, () => create(fields, reference, options)),
      ...(rehire && {
        rehire: (employee, fields, options) => send(`rehire ${employee.id}`, () => rehire(employee, fields, options)),
      }),
    },
  };
}

function noAnswer(): ConnectorError {
  return new ConnectorError({ code: 'LOST', action: 'unknown', message: 'No answer came.' });
}
