/** The answer, unless the signal aborts first: drivers cannot be stopped, so the caller drops the connection. */
export async function whileOpen<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  // An unhandled failure would end the process.
  answer.catch(() => undefined);
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([answer, promise]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
