import { type ConnectorError, isConnectorError } from '../errors.ts';

/** A probe as the port has it: what the calls were refused with is its answer. */
export async function probed(calls: Promise<unknown>): Promise<{ ok: true } | { ok: false; error: ConnectorError }> {
  try {
    await calls;
    return { ok: true };
  } catch (error) {
    if (isConnectorError(error)) return { ok: false, error };
    throw error;
  }
}
