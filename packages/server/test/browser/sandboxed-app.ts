import type { MadeEntry } from '#harness/zip-archive.ts'

/** An app that tries what an app may do and what it may not, and tells the page around it. `foreign`: another origin that
 * notes who asks it. */
export function curiousApp(foreign: string): MadeEntry[] {
  return [
    {
      path: 'curious.html',
      bytes: `<!doctype html><meta charset="utf-8"><base href="${foreign}/base/">
<link rel="stylesheet" href="./style.css">
<link rel="prefetch" href="${foreign}/prefetch"><link rel="modulepreload" href="${foreign}/preload.js">
<link rel="stylesheet" href="${foreign}/style.css"><link rel="icon" href="${foreign}/icon">
<link rel="manifest" href="${foreign}/manifest">
<style>@import url("${foreign}/import.css"); #b { background: url("${foreign}/background") }</style>
<script>window.inline = true</script>
<script src="${foreign}/classic.js"></script>
<script type="module" src="${foreign}/module.js"></script>
<p id="a">a</p><p id="b">b</p><img id="own" src="./pixel.svg"><img src="${foreign}/image">
<iframe src="${foreign}/frame"></iframe><object data="${foreign}/object"></object><embed src="${foreign}/embed">
<video src="${foreign}/video"></video><iframe srcdoc="<img src='${foreign}/nested'>"></iframe>
<form id="form" action="${foreign}/form" method="post"><input name="a"></form>
<script type="module" src="./curious.js"></script>`,
    },
    { path: 'style.css', bytes: '#a { color: rgb(1, 2, 3) }' },
    { path: 'pixel.svg', bytes: '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>' },
    { path: 'data.json', bytes: '{"a":1}' },
    { path: 'lib.js', bytes: 'export const fromModule = 42' },
    { path: 'curious.js', bytes: script(foreign) },
    {
      path: 'refresh.html',
      bytes: `<!doctype html><meta http-equiv="refresh" content="0;url=${foreign}/refresh">`,
    },
    { path: 'leave.html', bytes: '<!doctype html><script type="module" src="./leave.js"></script>' },
    { path: 'leave.js', bytes: `location.href = '${foreign}/location'` },
  ]
}

const script = (foreign: string) => `
import { fromModule } from './lib.js'
const told = {}
const tried = async (name, act) => {
  try { told[name] = await act() } catch (error) { told[name] = 'refused' }
}
const image = document.getElementById('own')
await new Promise((done) => image.complete ? done() : (image.onload = image.onerror = done))
const workerCode = \`onmessage = async () => {
  const ask = (url) => fetch(url).then((answer) => answer.status, () => 'refused')
  postMessage([self.origin, await ask('\${new URL('./data.json', location)}'), await ask('${foreign}/worker')])
}\`
const worker = (url) => new Promise((done) => {
  const made = new Worker(url)
  made.onmessage = ({ data }) => done(data)
  made.onerror = () => done('refused')
  made.postMessage('go')
})
const socket = (url) => new Promise((done) => {
  const opened = new WebSocket(url)
  opened.onopen = () => done('open')
  opened.onerror = () => done('refused')
})
const direct = async () => {
  const peer = new RTCPeerConnection({ iceServers: [{ urls: '${foreign.replace('http://', 'stun:')}' }] })
  // The last event is without a candidate.
  const gathered = new Promise((done) => {
    peer.onicecandidate = ({ candidate }) => done(candidate ? 'candidates' : 'refused')
  })
  peer.createDataChannel('x')
  await peer.setLocalDescription(await peer.createOffer())
  return await gathered
}
await tried('origin', () => self.origin)
await tried('module', () => fromModule)
await tried('inline', () => window.inline ?? 'refused')
await tried('base', () => document.baseURI.startsWith('${foreign}') ? 'moved' : 'refused')
await tried('style', () => getComputedStyle(document.getElementById('a')).color)
await tried('image', () => image.naturalWidth)
await tried('own data', async () => (await (await fetch('./data.json')).json()).a)
await tried('wasm', async () => (await WebAssembly.instantiate(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))).module instanceof WebAssembly.Module)
await tried('worker', () => worker(URL.createObjectURL(new Blob([workerCode], { type: 'text/javascript' }))))
await tried('worker by its address', () => worker('./lib.js'))
await tried('submit event', () => new Promise((done) => {
  const form = document.getElementById('form')
  form.onsubmit = (event) => { event.preventDefault(); done('told') }
  form.requestSubmit()
  setTimeout(() => done('silent'), 300)
}))
await tried('api', () => fetch('/api/me').then(({ status }) => status))
await tried('api without cors', () => fetch('/api/me', { mode: 'no-cors' }).then(({ type }) => type))
await tried('another package', () => fetch('../../b1~other/content/x', { mode: 'no-cors' }).then(({ type }) => type))
await tried('foreign', () => fetch('${foreign}/fetch', { mode: 'no-cors' }).then(({ type }) => type))
await tried('foreign import', () => import('${foreign}/import.js').then(() => 'imported'))
await tried('beacon', () => navigator.sendBeacon('${foreign}/beacon', 'x') ? 'sent' : 'refused')
await tried('event source', () => new Promise((done) => {
  const source = new EventSource('${foreign}/events')
  source.onopen = () => done('open')
  source.onerror = () => done('refused')
}))
await tried('socket', () => socket('${foreign.replace('http', 'ws')}/socket'))
await tried('own socket', () => socket(new URL('/ws/bus', location).href.replace('http', 'ws')))
await tried('direct connection', direct)
await tried('storage', () => localStorage.length)
await tried('session storage', () => sessionStorage.length)
await tried('database', () => indexedDB.open('x') && 'opened')
await tried('cookie', () => { document.cookie = 'a=b'; return document.cookie || 'refused' })
await tried('caches', () => caches.open('x').then(() => 'opened'))
await tried('service worker', () => navigator.serviceWorker.register('./curious.js').then(() => 'registered'))
await tried('parent', () => parent.document.title)
await tried('top', () => { top.location.href = '${foreign}/top'; return 'moved' })
await tried('window', () => window.open('${foreign}/window') === null ? 'refused' : 'opened')
await tried('eval', () => (0, eval)('1'))
await tried('camera', () => navigator.mediaDevices.getUserMedia({ video: true }).then(() => 'granted'))
await tried('form', () => { document.getElementById('form').submit(); return 'refused' })
await tried('ping', () => {
  const link = Object.assign(document.createElement('a'), { href: '#x', ping: '${foreign}/ping' })
  document.body.append(link)
  link.click()
  return 'refused'
})
parent.postMessage(told, '*')
`
