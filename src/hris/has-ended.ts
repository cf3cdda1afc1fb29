/** An employment lasts until its last day, `YYYY-MM-DD`, is over; without one it goes on. */
export function hasEnded(lastDay: string | null): boolean {
  return lastDay !== null && lastDay !== '' && lastDay < new Date().toISOString().slice(0, 10);
}
