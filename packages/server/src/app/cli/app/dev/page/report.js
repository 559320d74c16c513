// Runs before the scripts of the app, and tells the server what goes wrong in its page.

const folder = new URL('..', document.currentScript.src).href

function tell(text) {
  const body = text.replaceAll(folder, '')
  fetch(`${folder}.kith/problem`, { method: 'POST', mode: 'no-cors', body }).catch(() => undefined)
}

addEventListener(
  'error',
  ({ target, message, filename, lineno, colno }) => {
    const missing = target.src ?? target.href
    tell(missing ? `Not loaded: ${missing}` : `${message} (${filename}:${lineno}:${colno})`)
  },
  // What elements cannot load is told to themselves alone.
  { capture: true },
)
addEventListener('unhandledrejection', ({ reason }) => tell(reason?.stack ?? String(reason)))
addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective }) =>
  tell(`Kept out by the sandbox: ${blockedURI} (${effectiveDirective})`),
)
