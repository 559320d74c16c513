import { expect } from 'vitest'
import type { OpenedApp } from './app-people.ts'

/** Adds an entry to a to-do list. */
export async function addEntry({ app }: OpenedApp, title: string): Promise<void> {
  await app.getByLabel('What is to be done').fill(title)
  await app.getByLabel('What is to be done').press('Enter')
}

/** Waits for a to-do list to show these entries, in this order. */
export async function showsEntries({ app }: OpenedApp, ...expected: string[]): Promise<void> {
  const entries = app.locator('#items li span')
  await expect.poll(() => entries.allTextContents()).toEqual(expected)
}

/** Asks in a new poll. */
export async function askInPoll({ app }: OpenedApp, question: string, answers: string): Promise<void> {
  await app.getByLabel('Question').fill(question)
  await app.getByLabel('Answers').fill(answers)
  await app.getByRole('button', { name: 'Start' }).click()
  await app.getByRole('heading', { name: question }).waitFor()
}

/** Waits for a poll to count so many votes of each answer. */
export async function showsVotes({ app }: OpenedApp, ...expected: number[]): Promise<void> {
  const counts = async () => (await app.locator('.count').allTextContents()).map(Number.parseFloat)
  await expect.poll(counts).toEqual(expected)
}
