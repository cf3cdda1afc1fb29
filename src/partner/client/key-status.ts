import { z } from 'zod';
import { isConnectorError } from '../../errors.ts';
import type { Overrides } from '../contract/overrides.ts';
import type { CallEndpoint } from './call.ts';
import type { AnyEndpoint, CallOptions } from './types.ts';

/** `unknown` where the partner has no such address: its path is not shown (section 5.4) and stands in the overrides. */
export type KeyStatus = 'active' | 'refused' | 'unknown';

/** Asks what becomes of the key, without touching any record. Errors other than a refusal of the key are thrown. */
export async function readKeyStatus(
  call: CallEndpoint,
  overrides: Overrides,
  options: CallOptions,
): Promise<KeyStatus> {
  try {
    const body = await call(keyStatusEndpoint(overrides.keyStatusPath), {}, options);
    return KeyExists.safeParse(body).data?.isApiKeyExists === false ? 'refused' : 'active';
  } catch (error) {
    if (!isConnectorError(error)) throw error;
    if (error.action === 'reauthorize') return 'refused';
    if (error.status === 404) return 'unknown';
    throw error;
  }
}

const KeyExists = z.looseObject({ isApiKeyExists: z.boolean().nullish() });

function keyStatusEndpoint(path: `/${string}`): AnyEndpoint {
  return {
    id: 'keyStatus',
    method: 'GET',
    path,
    section: '5.4',
    summary: 'Status of the key',
    status: 200,
    envelope: 'bare',
    response: z.looseObject({}),
    errors: [],
  };
}
