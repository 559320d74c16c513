import type { AppPageTexts } from './app-page-texts.ts'

/** The apps that are installed, and those that may be. */
export function appsMain(texts: AppPageTexts): string {
  return `<h1>${texts.apps}</h1>
<p class="hint">${texts.appsHint}</p>
<section aria-labelledby="installed-title">
<h2 id="installed-title" tabindex="-1">${texts.installedApps}</h2>
<ul id="installed" aria-labelledby="installed-title"></ul>
</section>
<section aria-labelledby="catalogue-title">
<h2 id="catalogue-title" tabindex="-1">${texts.catalogue}</h2>
<p class="hint">${texts.catalogueHint}</p>
<form id="search-form" role="search" method="post">
<label for="search">${texts.searchApps}</label>
<input id="search" name="search" type="search" autocomplete="off" maxlength="200">
<button type="submit">${texts.searchNow}</button>
</form>
<ul id="catalogue" aria-labelledby="catalogue-title"></ul>
<button type="button" id="more" class="quiet" hidden>${texts.moreApps}</button>
</section>
<dialog id="uninstalling" aria-labelledby="uninstalling-title" aria-describedby="uninstalling-hint">
<form method="dialog">
<h2 id="uninstalling-title"></h2>
<p id="uninstalling-hint">${texts.uninstallHint}</p>
<button value="uninstall">${texts.uninstall}</button>
<button value="keep" class="quiet" autofocus>${texts.keepApp}</button>
</form>
</dialog>`
}

/** An app: its files to choose from, or one of them open in it. */
export function appMain(texts: AppPageTexts): string {
  return `<section id="chooser" aria-labelledby="app-name" hidden>
<p><a href="/apps">${texts.apps}</a></p>
<h1 id="app-name"></h1>
<p id="app-about" class="hint"></p>
<div id="uses" hidden>
<h2 id="files-title">${texts.appFiles}</h2>
<ul id="files" aria-labelledby="files-title"></ul>
<div id="offered" hidden>
<h2 id="offers-title">${texts.appOffers}</h2>
<ul id="offers" aria-labelledby="offers-title"></ul>
</div>
<form id="new-form" method="post" aria-labelledby="new-title">
<h2 id="new-title">${texts.newFile}</h2>
<label for="new-name">${texts.newFileName}</label>
<input id="new-name" name="new-name" autocomplete="off" maxlength="255" required>
<button type="submit">${texts.create}</button>
</form>
</div>
</section>
<section id="hosting" aria-labelledby="hosted-name" hidden>
<header id="bar">
<a id="leave" class="button" href="?">${texts.leaveApp}</a>
<p id="what"><strong id="hosted-name"></strong> <span id="hosted-by"></span> <bdi id="hosted-title"></bdi></p>
<p id="save-state" role="status"></p>
<p id="who"></p>
<button type="button" id="share" class="quiet" hidden>${texts.shareFile}</button>
</header>
<div id="frame"></div>
<div id="ended" hidden>
<p id="why" role="alert"></p>
<p><button type="button" id="again">${texts.openAgain}</button> <a href="?">${texts.otherFiles}</a></p>
</div>
</section>
<dialog id="asked" aria-labelledby="asked-text">
<p id="asked-text"></p>
<button type="button" id="asked-open">${texts.openAddress}</button>
<button type="button" id="asked-dismiss" class="quiet" autofocus>${texts.dismissAddress}</button>
</dialog>
<dialog id="sharing" aria-labelledby="sharing-title">
<h2 id="sharing-title">${texts.sharing}</h2>
<form id="share-form" method="post">
<label for="share-with">${texts.shareWith}</label>
<input id="share-with" name="share-with" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="253" required>
<label class="choice"><input type="checkbox" id="share-write" checked> ${texts.shareWrite}</label>
<button type="submit">${texts.shareNow}</button>
</form>
<p id="share-status" role="status"></p>
<p id="share-problem" role="alert"></p>
<h3 id="shares-title">${texts.sharedWith}</h3>
<ul id="shares" aria-labelledby="shares-title"></ul>
<button type="button" id="sharing-done" class="quiet">${texts.closeDialog}</button>
</dialog>`
}
