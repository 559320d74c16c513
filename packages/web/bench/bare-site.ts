import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Town } from './town.ts'

/** Pages of plain HTML with the posts and pictures of a town, from a server that has them in its memory. */
export interface BareSite extends AsyncDisposable {
  readonly url: string
}

interface Post {
  readonly issuer: { readonly name: string }
  readonly createdAt: string
  readonly content?: { readonly text?: string }
  readonly files?: readonly Shown[]
}
interface Shown {
  readonly fileId: string
  readonly width?: number
  readonly height?: number
  readonly fileName: string
}

const style = `<style>body{margin:0;font:16px/1.4 sans-serif}article{padding:12px;border-bottom:1px solid #ccc}
article img{width:100%;height:auto;display:block}.grid{display:grid;grid-template-columns:repeat(4,1fr);gap:4px}
.grid img{width:100%;aspect-ratio:1;object-fit:cover}.row{display:flex;gap:12px;height:60px;align-items:center;border-bottom:1px solid #ccc}
.row img{width:44px;height:44px}</style>`

/** `/feed?n=` posts; `/photos?n=` a grid of pictures; `/rows?n=` lines of text with a small picture each. */
export async function startBareSite(town: Town): Promise<BareSite> {
  const headers = { authorization: `Bearer ${town.token}`, 'x-forwarded-for': '10.9.9.9' }
  const ask = async (path: string) => await fetch(town.kith.url + path, { headers })
  const { data: posts } = (await (await ask('/api/actions?type=POST&limit=100')).json()) as { data: Post[] }
  const pictures = new Map<string, Promise<Buffer>>()
  const pictureOf = (path: string) => {
    const known =
      pictures.get(path) ?? ask(path).then(async (answer) => Buffer.from(await answer.arrayBuffer()))
    pictures.set(path, known)
    return known
  }
  const { data: files } = (await (
    await ask(`/api/files?parentId=${encodeURIComponent(town.folderId)}&limit=100`)
  ).json()) as { data: Shown[] }
  await Promise.all(
    posts
      .slice(0, 30)
      .flatMap(({ files: shown = [] }) =>
        shown.map((one) => pictureOf(`/api/files/${one.fileId}?variant=sd`)),
      ),
  )
  const pages: Readonly<Record<string, (count: number) => string>> = {
    '/feed': (count) => repeat(count, (at) => postHtml(posts[at % posts.length] as Post, at)),
    '/photos': (count) =>
      `<div class="grid">${repeat(count, (at) => imageHtml(files[at % files.length] as Shown, 'tn', at))}</div>`,
    '/rows': (count) =>
      repeat(
        count,
        (at) =>
          `<div class="row">${imageHtml(files[at % files.length] as Shown, 'tn', at)}<b>${at}</b><span>a line of text</span></div>`,
      ),
  }
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://bare')
    const page = pages[pathname]
    if (page) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      response.end(
        `<!doctype html><meta name="viewport" content="width=device-width"><title>bare</title>${style}${page(Number(searchParams.get('n')))}`,
      )
    } else if (pathname.startsWith('/api/files/')) {
      const bytes = await pictureOf(`${pathname}?variant=${searchParams.get('variant')}`)
      response.writeHead(200, { 'content-type': 'image/webp', 'cache-control': 'max-age=3600' }).end(bytes)
    } else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://bare.localhost:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

function repeat(count: number, html: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => html(at)).join('')
}

function postHtml({ issuer, createdAt, content, files = [] }: Post, at: number): string {
  const images = files.map((file) => imageHtml(file, 'sd', at)).join('')
  return `<article><b>${issuer.name}</b> <time>${createdAt}</time><p>${content?.text ?? ''}</p>${images}
    <button popovertarget="p${at}">React</button><div id="p${at}" popover>👍 ❤️ 😂</div>
    <button>Comment</button><button>Share</button></article>`
}

// As many addresses as the app has: no picture is decoded once for all.
function imageHtml({ fileId, width = 4, height = 3 }: Shown, variant: string, at: number): string {
  return `<img loading="lazy" decoding="async" alt="" width="${width}" height="${height}" src="/api/files/${fileId}?variant=${variant}&n=${at}">`
}
