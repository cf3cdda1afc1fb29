import type { ConnectorError } from '../errors.ts';
import type { Answer, HoldEntry } from './answers.ts';
import { holdCatalogue } from './hold-catalogue.ts';
export type HoldCode = keyof typeof holdCatalogue;

/** The details a hold's message is made from: ids, codes and field names. */
type HoldAbout<C extends HoldCode> = Parameters<(typeof holdCatalogue)[C]['what']>[0];

/** Why a hire waits, and which answers it accepts. Appears in workflow histories, so it holds no personal data. */
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

/** The finding and the question, which the catalogue keeps apart. */
export function messageParts({ code, message }: Pick<HoldRequest, 'code' | 'message'>): { what: string; asks: string } {
  const asks = entryOf(code)?.asks;
  if (asks === undefined || !message.endsWith(asks)) return { what: message, asks: '' };
  return { what: message.slice(0, -asks.length).trim(), asks };
}

function entryOf(code: string): HoldEntry | undefined {
  return Object.hasOwn(holdCatalogue, code) ? holdCatalogue[code as HoldCode] : undefined;
}

/**
 * Why a hire waits, for people at the hiring platform: without commands and without ids of other people. The other
 * side's own words about a refusal are not repeated there.
 */
export function reasonOf({ code, details }: Pick<HoldRequest, 'code' | 'details'>): string {
  const entry = entryOf(code);
  const say =
    entry?.told ?? entry?.what ?? (() => 'The operators of the connection to the HR system were asked to decide.');
  return `On hold: ${say((details ?? {}) as never)} [${code}]`.slice(0, MOST_OF_REASON);
}

const MOST_OF_REASON = 500;

export function held<C extends HoldCode>(code: C, about: HoldAbout<C>): Held {
  return { verdict: 'hold', hold: holdOf(code, about) };
}

/**
 * Answers to refusals with the other side's own code: before the employee exists the hire can be cancelled, afterwards
 * kept.
 */
export const refusalAnswers = {
  'before-employee': ['retry', 'cancel'],
  'after-employee': ['retry', 'keep'],
  ending: ['retry', 'keep'],
} as const satisfies Record<string, readonly Answer[]>;

/**
 * A hold for a refusal (`reject`) that only a person can fix, under the refusal's own code. By default without the
 * other side's words: those are kept in the store, see `keepRefusal`.
 */
export function refusalHold(
  error: ConnectorError,
  when: keyof typeof refusalAnswers,
  message = error.withoutWords(),
): Held {
  const { code, details } = error;
  const hold = { code, message, answers: refusalAnswers[when] };
  return { verdict: 'hold', hold: details === undefined ? hold : { ...hold, details } };
}

/**
 * A hold for trouble with a tenant's HR system. It closes by itself; a person who does not want to wait answers retry.
 * Without the HR system's own words: they may name somebody, and an erasure would not find them here.
 */
export function hrisHold(error: ConnectorError): HoldRequest {
  const { code } = error;
  return {
    code: code.startsWith(HRIS_PREFIX) ? code : `${HRIS_PREFIX}${code}`,
    message: `${error.withoutWords()} Hires that need it wait, and continue by themselves once it answers.`,
    answers: ['retry'],
  };
}

const HRIS_PREFIX = 'HRIS_';
