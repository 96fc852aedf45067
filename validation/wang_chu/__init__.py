"""Wang and Chu (2018): clock scaling."""
