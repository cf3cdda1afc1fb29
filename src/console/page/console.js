// Keeps what stands in `data-live` up to date, and narrows a table while somebody types. The pages work without it.
const EVERY_MS = 10_000;

async function refresh() {
  const parts = [...document.querySelectorAll('[data-live]')];
  if (document.hidden || parts.length === 0 || parts.some(isInUse)) return;
  const answer = await fetch(location.href, { signal: AbortSignal.timeout(EVERY_MS) }).catch(() => undefined);
  if (answer?.ok !== true)
    return say(answer?.status === 401 ? 'You are signed out.' : 'The console does not answer.', true);
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const part of parts) {
    const fresh = next.getElementById(part.id);
    // Somebody may have begun to use it while the answer came.
    if (fresh === null || isInUse(part) || fresh.innerHTML === part.innerHTML) continue;
    replace(part, fresh);
  }
  for (const input of document.querySelectorAll('[data-filters]')) narrow(input);
  say('');
}

/** Nothing is replaced under somebody's hands: a field with text in it, or where the focus is. */
function isInUse(part) {
  const typed = [...part.querySelectorAll('input:not([type=hidden])')].some((input) => input.value !== '');
  return typed || (part.contains(document.activeElement) && !document.activeElement.matches('.scroll'));
}

/** A table that is scrolled by keyboard stays where it is. */
function replace(part, fresh) {
  const before = part.contains(document.activeElement) ? document.activeElement : undefined;
  part.replaceChildren(...fresh.childNodes);
  const name = before?.getAttribute('aria-label');
  const same = [...part.querySelectorAll('.scroll')].find((one) => one.getAttribute('aria-label') === name);
  if (before === undefined || same === undefined) return;
  same.focus({ preventScroll: true });
  same.scrollLeft = before.scrollLeft;
}

/** Said only when it changes, so that a screen reader is not told every time. */
function say(text, isBad = false) {
  const health = document.getElementById('health');
  if (health.textContent === text) return;
  health.textContent = text;
  health.className = isBad ? 'bad' : '';
}

function narrow(input) {
  const rows = [...document.querySelectorAll(`#${input.dataset.filters} tbody tr`)];
  const wanted = input.value.trim().toLowerCase();
  for (const row of rows) row.hidden = !row.textContent.toLowerCase().includes(wanted);
  const found = rows.filter((row) => !row.hidden).length;
  const told = document.getElementById(`${input.dataset.filters}-found`);
  told.textContent = wanted === '' ? '' : `${found} of ${rows.length}`;
}

for (const input of document.querySelectorAll('[data-filters]')) {
  input.addEventListener('input', () => narrow(input));
  input.form.addEventListener('submit', (event) => event.preventDefault());
  narrow(input);
}
setInterval(refresh, EVERY_MS);
