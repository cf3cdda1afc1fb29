import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { ConnectorError } from '../errors.ts';

const REFERENCE = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/s;

/** Reference to a secret, never the secret itself: `env:NAME` or `file:PATH`. */
export type SecretRef = string;

/** Refuses a secret written into the file, without repeating it. */
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

/** Whether an address holds a password: before its host, even where it cannot be read as an address, or behind it. */
export function holdsPassword(address: string): boolean {
  const url = URL.parse(address);
  if (url !== null && (url.password !== '' || url.searchParams.has('password'))) return true;
  return /^(?:postgres|postgresql|mariadb):\/\/[^?]*:[^?]*@/.test(address);
}

/** Makes a `file:` reference absolute, so that it means the same no matter where the process was started. */
export function anchorSecret(ref: SecretRef, file: string): SecretRef {
  return ref.startsWith('file:') ? `file:${resolve(dirname(file), ref.slice('file:'.length))}` : ref;
}

/**
 * The secret behind a reference, without the trailing line end of a file. If it is missing or empty, throws a
 * ConnectorError that names the reference, never the value; this pauses the tenant until the secret is there.
 */
export function resolveSecret(ref: SecretRef): string {
  const value = ref.startsWith('env:')
    ? process.env[ref.slice('env:'.length)]
    : ref.startsWith('file:')
      ? contents(ref)
      : undefined;
  const trimmed = value?.replace(/\r?\n$/, '');
  if (trimmed === undefined || trimmed === '') throw missing(ref);
  return trimmed;
}

/** A text from a tenant file: resolves it if it is a reference, else returns it. Throws like `resolveSecret`. */
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
