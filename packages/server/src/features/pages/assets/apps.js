import { call, resume } from './api.js'
import { begin, element, text, toSignIn } from './browser.js'

async function start() {
  if (!(await resume())) return toSignIn()
  const apps = await call('GET', '/api/apps/installed')
  if (apps.length === 0) element('apps').append(text('noApps'))
  element('apps').append(...apps.map(lineOf))
}

function lineOf({ name, publisherTag, version, description = '' }) {
  const line = document.createElement('li')
  const label = document.createElement('span')
  const link = document.createElement('a')
  link.href = `/apps/${encodeURIComponent(publisherTag)}/${encodeURIComponent(name)}`
  link.textContent = name
  const about = document.createElement('p')
  about.className = 'hint'
  about.textContent = text('appAbout', { description, version, publisher: publisherTag }).trim()
  label.append(link, about)
  line.append(label)
  return line
}

begin(start)
