// Runs before the scripts of the app, and tells the server what goes wrong in its page.

const folder = new URL('..', document.currentScript.src).href

function tell(text) {
  const body = text.replaceAll(folder, '')
  fetch(`${folder}.kith/problem`, { method: 'POST', mode: 'no-cors', body }).catch(() => undefined)
}

const inWords = (error) => `${error?.stack || error}`

addEventListener(
  'error',
  ({ target, error, message, filename, lineno, colno }) => {
    if (target === globalThis) tell(error ? inWords(error) : `${message} (${filename}:${lineno}:${colno})`)
    else if (target.src || target.href) tell(`Not loaded: ${target.src || target.href}`)
  },
  // What elements cannot load is told to themselves alone.
  { capture: true },
)
addEventListener('unhandledrejection', ({ reason }) => tell(inWords(reason)))
addEventListener('securitypolicyviolation', ({ blockedURI, effectiveDirective }) =>
  tell(`Kept out by the sandbox: ${blockedURI} (${effectiveDirective})`),
)
for (const name of ['alert', 'confirm', 'prompt', 'open', 'print'])
  globalThis[name] = () => {
    tell(`The sandbox ignores ${name}()`)
    return name === 'confirm' ? false : null
  }
