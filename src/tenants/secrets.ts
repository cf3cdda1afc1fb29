import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { ConnectorError } from '../errors.ts';

const REFERENCE = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/s;

/** Where a secret stands, never the secret: `env:NAME` or `file:PATH`. */
export type SecretRef = string;

/** A literal secret in the file is refused, without repeating it. */
export const secretRef = z
  .string('expected a reference to a secret: env:NAME or file:/path')
  .regex(
    REFERENCE,
    'a secret itself must not stand in this file; put it into the environment or a file of its own and write ' +
      'env:NAME or file:/path here',
  );

export function isSecretRef(text: string): boolean {
  return REFERENCE.test(text);
}

/** Makes a `file:` reference absolute, so that it means the same wherever the process was started. */
export function anchorSecret(ref: SecretRef, file: string): SecretRef {
  return ref.startsWith('file:') ? `file:${resolve(dirname(file), ref.slice('file:'.length))}` : ref;
}

/** What a refused secret's message adds: one behind `file:` is read again by itself, one behind `env:` is not. */
export function restartNote(ref: SecretRef): string {
  return ref.startsWith('env:') ? ` It is read from ${ref} when a process starts: a new one needs a restart.` : '';
}

/**
 * The secret behind a reference, without the line end a file has. A missing or empty one is a ConnectorError naming
 * the reference, never the value; it pauses its tenant until the secret is there.
 */
export function resolveSecret(ref: SecretRef, environment: NodeJS.ProcessEnv = process.env): string {
  const value = ref.startsWith('env:')
    ? environment[ref.slice('env:'.length)]
    : ref.startsWith('file:')
      ? contents(ref)
      : undefined;
  const trimmed = value?.replace(/\r?\n$/, '');
  if (trimmed === undefined || trimmed === '') throw missing(ref);
  return trimmed;
}

/** A text of a tenant's file that may be a reference: what stands behind it, else itself. Throws as `resolveSecret`. */
export function resolveText(text: string): string {
  return isSecretRef(text) ? resolveSecret(text) : text;
}

function contents(ref: SecretRef): string | undefined {
  try {
    return readFileSync(ref.slice('file:'.length), 'utf8');
  } catch {
    return undefined;
  }
}

function missing(ref: SecretRef): ConnectorError {
  const named = REFERENCE.test(ref) ? ref : 'the reference';
  const next = ref.startsWith('env:')
    ? `Set the environment variable ${ref.slice('env:'.length)} for this process and restart it.`
    : 'Create the file with the secret as its only line, readable by this process.';
  return new ConnectorError({
    code: 'SECRET_MISSING',
    action: 'reauthorize',
    message: `The secret ${named} is missing or empty. ${next}`,
  });
}
