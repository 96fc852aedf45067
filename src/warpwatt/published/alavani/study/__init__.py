"""Parts of the power study (thesis, chapter 5) that only the study needs: neural networks, training costs."""
