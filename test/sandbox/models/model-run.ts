import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Answer, type Company, openInMemory } from './in-memory-sandbox.ts';

/** A family of the API: a reference model written from the specification, and the steps taken in both. */
export interface Family<Model> {
  name: string;
  begin(company: Company, foreign: Company): Model;
  steps: ReadonlyArray<fc.Arbitrary<Step<Model>>>;
  /** What must be equal after every step. */
  compare(model: Model, company: Company): void;
}

export interface Step<Model> {
  says: string;
  take(model: Model, company: Company): void;
}

/** A step drawn from this input; its words are what a counterexample is told in. */
export function step<Model, Input>(
  says: string,
  input: fc.Arbitrary<Input>,
  take: (model: Model, company: Company, input: Input) => void,
): fc.Arbitrary<Step<Model>> {
  return input.map((drawn) => ({
    says: `${says} ${fc.stringify(drawn)}`,
    take: (model, company) => take(model, company, drawn),
  }));
}

export interface RunOptions {
  runs: number;
  seed: number;
  /** Puts a sandbox that does one thing wrong in the place of the real one: a model that cannot fail shows nothing. */
  spoil?: (company: Company) => Company;
}

export interface RunResult {
  runs: number;
  steps: number;
  seed: number;
}

const MOST_STEPS = 40;

/** Runs that many sequences of steps; throws the shortest one found after which sandbox and model differ. */
export function checkFamily<Model>(family: Family<Model>, { runs, seed, spoil = same }: RunOptions): RunResult {
  const sandbox = openInMemory();
  let steps = 0;
  const commands = family.steps.map((arbitrary) =>
    arbitrary.map(
      (drawn): fc.Command<{ model: Model }, Company> => ({
        check: () => true,
        run({ model }, company) {
          steps += 1;
          drawn.take(model, company);
          family.compare(model, company);
        },
        toString: () => `\n  ${drawn.says}`,
      }),
    ),
  );
  try {
    const property = fc.property(fc.commands(commands, { maxCommands: MOST_STEPS, size: 'max' }), (sequence) => {
      const company = spoil(sandbox.newCompany());
      const model = family.begin(company, sandbox.foreign);
      company.events();
      fc.modelRun(() => ({ model: { model }, real: company }), sequence);
    });
    // What is wrong on purpose need not be made short.
    fc.assert(property, { numRuns: runs, seed, includeErrorInReport: true, endOnFailure: spoil !== same });
    return { runs, steps, seed };
  } finally {
    sandbox.close();
  }
}

function same(company: Company): Company {
  return company;
}

/** One of what is known, a number nobody has, or something of another company. */
export type Pick = { kind: 'known'; nth: number } | { kind: 'unknown' } | { kind: 'foreign' };

export const pick: fc.Arbitrary<Pick> = fc.oneof(
  { weight: 12, arbitrary: fc.nat(20).map((nth): Pick => ({ kind: 'known', nth })) },
  { weight: 1, arbitrary: fc.constant<Pick>({ kind: 'unknown' }) },
  { weight: 1, arbitrary: fc.constant<Pick>({ kind: 'foreign' }) },
);

/** The one of the list that is meant; undefined where the list is empty or none of it is meant. */
export function chosen<T>(list: readonly T[], one: Pick): T | undefined {
  return one.kind === 'known' ? list[one.nth % Math.max(1, list.length)] : undefined;
}

/** Several rules may be broken at once; which of them is told is the order of checks, G26. */
export function refusedAs(answer: Answer, codes: readonly string[], what: string): void {
  assert.ok(answer.code !== undefined && codes.includes(answer.code), told(answer, `${what} is ${codes.join(' or ')}`));
  const status = codes.map((code) => statuses[code]);
  assert.ok(status.includes(answer.status), told(answer, `${what} has the status of its code`));
}

export function accepted(answer: Answer, status: number, what: string): Answer['body'] {
  assert.equal(answer.status, status, told(answer, what));
  return answer.body.data;
}

function told(answer: Answer, right: string): string {
  return `${right}; answered ${answer.status} ${JSON.stringify(answer.body).slice(0, 400)}`;
}

/** Section 7; SLOT_UNAVAILABLE is assumed (B4). */
const statuses: Record<string, number> = {
  INVALID_REQUEST: 400,
  INSUFFICIENT_ONBOARDING_CREDITS: 402,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  PIPELINE_NOT_FOUND: 404,
  CUSTOM_FIELD_NOT_FOUND: 404,
  DUPLICATE_ENROLLMENT: 409,
  ALREADY_TERMINAL: 409,
  SLOT_UNAVAILABLE: 409,
};
