import { useLayoutEffect } from 'preact/hooks'
import { isTyped, taskOfKey } from '#ui/typed-keys.ts'

/** Keys lead from post to post of the page, and react to, answer or bookmark the one that has the focus; `Enter` opens it. */
export function usePostKeys(open: (actionId: string) => void): void {
  // Before anything is painted: keys count from the first moment at which something is seen.
  useLayoutEffect(() => {
    const heed = (event: KeyboardEvent) => {
      if (isTyped(event) || document.querySelector(':popover-open')) return
      const post = document.activeElement?.closest<HTMLElement>('[data-post]') ?? undefined
      if (!act(event, post, open)) return
      event.preventDefault()
    }
    window.addEventListener('keydown', heed)
    return () => window.removeEventListener('keydown', heed)
  }, [open])
}

function act(event: KeyboardEvent, post: HTMLElement | undefined, open: (actionId: string) => void): boolean {
  const task = taskOfKey(event)
  if (task === 'next' || task === 'previous') return move(post, task === 'next' ? 1 : -1)
  if (!post) return false
  if (event.key === 'Enter') {
    // On a link or a button inside the post the key is theirs.
    if (event.target !== post) return false
    open(post.dataset.post ?? '')
    return true
  }
  if (task === undefined) return false
  const button = post.querySelector<HTMLElement>(`[data-task="${task}"]`)
  button?.click()
  return button !== null
}

function move(from: HTMLElement | undefined, step: number): boolean {
  const posts = [...document.querySelectorAll<HTMLElement>('main [data-post]')]
  const next = from && isSeen(from) ? posts[posts.indexOf(from) + step] : posts.find(isSeen)
  next?.focus()
  return next !== undefined
}

function isSeen(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect()
  return bottom > 0 && top < window.innerHeight
}
