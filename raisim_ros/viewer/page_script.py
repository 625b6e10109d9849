"""What the page does besides what viser offers: a key that is no letter, and files that are dropped."""

# An image that does not load runs a script, once for each page. Hotkeys are letters: "?" is taken for H. A file that is
# dropped goes the way of the upload button.
PAGE_SCRIPT = """<img src="data:," alt="" style="display: none" onerror="
  if (!window.raisimPage) {
    window.raisimPage = true;
    window.addEventListener('keydown', (event) => {
      const typing = /^(input|textarea|select)$/i.test(event.target.tagName || '');
      if (event.key === '?' && !typing) {
        document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'h', code: 'KeyH', bubbles: true}));
      }
    });
    window.addEventListener('dragover', (event) => event.preventDefault());
    window.addEventListener('drop', (event) => {
      event.preventDefault();
      const input = document.querySelector('input[type=file]');
      for (const file of input ? event.dataTransfer.files : []) {
        const one = new DataTransfer();
        one.items.add(file);
        input.files = one.files;
        input.dispatchEvent(new Event('change', {bubbles: true}));
      }
    });
  }">"""
