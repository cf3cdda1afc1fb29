import { type ConnectorError, isConnectorError } from '../errors.ts';

/** Turns calls into a probe's result: their refusal becomes the answer. */
export async function probed(calls: Promise<unknown>): Promise<{ ok: true } | { ok: false; error: ConnectorError }> {
  try {
    await calls;
    return { ok: true };
  } catch (error) {
    if (isConnectorError(error)) return { ok: false, error };
    throw error;
  }
}
