import { connect, followLook } from '@kith/app'
import { element, make, say } from './elements.ts'
import { type Answer, Poll, readAnswers } from './poll.ts'
import { textsOf } from './texts.ts'

const app = await connect()
followLook(app)
let isDrawn = true
const shared = await app.document({ onState: show })
const poll = new Poll(shared)

poll.onChange(show)
app.onChange(show)
element('ask').addEventListener('submit', (event) => {
  event.preventDefault()
  const answers = readAnswers(element<HTMLTextAreaElement>('choices').value)
  const question = element<HTMLInputElement>('question').value.trim()
  element('ask-problem').textContent = answers && question !== '' ? '' : textsOf(app.language).choicesProblem
  if (answers && question !== '') poll.ask(question, answers)
})
element('vote').addEventListener('submit', (event) => event.preventDefault())
element('withdraw').addEventListener('click', () => {
  poll.vote(app.user.idTag, undefined)
  document.querySelector<HTMLInputElement>('#answers input')?.focus()
})
show()

/** Draws once, however much has changed at a time. */
function show(): void {
  if (!isDrawn) return
  isDrawn = false
  setTimeout(() => {
    isDrawn = true
    draw()
  })
}

function mayVote(): boolean {
  const { kind } = shared.state
  return app.opened.access === 'write' && kind !== 'ended' && kind !== 'readOnly'
}

function draw(): void {
  const texts = textsOf(app.language)
  const { question } = poll
  const isLoading = shared.state.kind === 'loading'
  label()
  say('notice', notice())
  element('ask').hidden = isLoading || question !== undefined || !mayVote()
  element('vote').hidden = question === undefined
  say('empty', !isLoading && question === undefined && !mayVote() ? texts.empty : undefined)
  if (question === undefined) return
  app.setTitle(question)
  element('asked').textContent = question
  drawAnswers(poll.answers)
}

function label(): void {
  const texts = textsOf(app.language)
  element('ask-title').textContent = texts.newPoll
  element('choices-hint').textContent = texts.choicesHint
  element('withdraw').textContent = texts.withdraw
  for (const [name, text] of [
    ['question', texts.question],
    ['choices', texts.choices],
  ] as const)
    element('ask').querySelector(`label[for=${name}]`)?.replaceChildren(text)
  element('ask').querySelector('button')?.replaceChildren(texts.start)
}

/** Draws the answers, and leaves the focus where it was. */
function drawAnswers(answers: readonly Answer[]): void {
  const texts = textsOf(app.language)
  const own = poll.voteOf(app.user.idTag)
  const total = answers.reduce((sum, { votes }) => sum + votes, 0)
  const focused = document.activeElement?.id
  element('answers').replaceChildren(
    ...answers.map((answer, at) => lineOf(answer, { id: `answer-${at}`, total, own })),
  )
  if (focused) document.getElementById(focused)?.focus()
  element('total').textContent = texts.votes(total)
  element('withdraw').hidden = own === undefined || !mayVote()
}

interface Look {
  readonly id: string
  readonly total: number
  readonly own: string | undefined
}

function lineOf({ text, votes }: Answer, { id, total, own }: Look): HTMLElement {
  const percent = total === 0 ? 0 : Math.round((votes / total) * 100)
  const choice = make('input', {
    type: 'radio',
    name: 'answer',
    id,
    checked: own === text,
    disabled: !mayVote(),
  })
  choice.addEventListener('change', () => poll.vote(app.user.idTag, text))
  const count = make('span', { className: 'count' }, textsOf(app.language).share(votes, percent))
  const bar = make('progress', { max: Math.max(1, total), value: votes, ariaHidden: 'true' })
  return make('label', { className: 'answer' }, choice, make('span', { className: 'text' }, text), count, bar)
}

function notice(): string | undefined {
  const texts = textsOf(app.language)
  const { state } = shared
  if (state.kind === 'ended')
    return state.code === 4403 ? texts.withdrawn : state.code === 4404 ? texts.gone : texts.ended
  if (state.kind === 'offline') return texts.offline
  return !mayVote() && poll.question !== undefined ? texts.readOnly : undefined
}
