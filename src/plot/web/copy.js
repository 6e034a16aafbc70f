'use strict';
// A button that copies the text of the element before it, also where the page is a file and has no clipboard.
function copyButton(button) {
  button.addEventListener('click', async () => {
    const text = button.parentElement.querySelector('pre').textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch (e) {
      const area = document.body.appendChild(document.createElement('textarea'));
      area.value = text;
      area.select();
      document.execCommand('copy');
      area.remove();
    }
    const was = button.textContent;
    button.textContent = 'Copied';
    setTimeout(() => button.textContent = was, 1500);
  });
}
