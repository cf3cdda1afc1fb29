import type { ConnectorError } from '../errors.ts';
import type { Answer } from './answers.ts';
import { type HoldEntry, holdCatalogue } from './hold-catalogue.ts';
export type HoldCode = keyof typeof holdCatalogue;

/** What a hold's message is made of: ids, codes and field names. It is kept as the hold's details. */
type HoldAbout<C extends HoldCode> = Parameters<(typeof holdCatalogue)[C]['what']>[0];

/** Why a hire is parked, and which answers are accepted. Stands in histories, so it holds no personal data. */
export interface HoldRequest {
  code: string;
  message: string;
  answers: readonly Answer[];
  details?: Record<string, unknown>;
}

export interface Held {
  verdict: 'hold';
  hold: HoldRequest;
}

export function holdOf<C extends HoldCode>(code: C, about: HoldAbout<C>): HoldRequest {
  const { answers, what, asks }: HoldEntry = holdCatalogue[code];
  return { code, message: `${what(about as never)} ${asks}`, answers, details: { ...about } };
}

/**
 * Why a hire waits, for people at the hiring platform: without commands, and without anybody else's ids. What the other
 * side refused is said in its words, so that it is not repeated there.
 */
export function reasonOf({ code, details }: Pick<HoldRequest, 'code' | 'details'>): string {
  const entry = (holdCatalogue as Readonly<Record<string, HoldEntry>>)[code];
  const say = entry?.told ?? entry?.what ?? (() => 'Whoever looks after the connection to the HR system was asked.');
  return `On hold: ${say((details ?? {}) as never)} [${code}]`.slice(0, MOST_OF_REASON);
}

const MOST_OF_REASON = 500;

export function held<C extends HoldCode>(code: C, about: HoldAbout<C>): Held {
  return { verdict: 'hold', hold: holdOf(code, about) };
}

/**
 * Answers to refusals whose code is the other side's: before the employee exists the hire can be cancelled,
 * afterwards kept.
 */
export const refusalAnswers = {
  'before-employee': ['retry', 'cancel'],
  'after-employee': ['retry', 'keep'],
  ending: ['retry', 'keep'],
} as const satisfies Record<string, readonly Answer[]>;

/** A refusal (`reject`) that only a person can cure, under the refusal's own code. */
export function refusalHold(error: ConnectorError, when: keyof typeof refusalAnswers): Held {
  const { code, message, details } = error;
  const hold = { code, message, answers: refusalAnswers[when] };
  return { verdict: 'hold', hold: details === undefined ? hold : { ...hold, details } };
}

/** Trouble with a tenant's HR system: it closes by itself, and whoever does not want to wait answers retry. */
export function hrisHold({ code, message }: ConnectorError): HoldRequest {
  return {
    code: code.startsWith(HRIS_PREFIX) ? code : `${HRIS_PREFIX}${code}`,
    message: `${message} Hires wait where they need it and go on by themselves once it answers.`,
    answers: ['retry'],
  };
}

const HRIS_PREFIX = 'HRIS_';
