module example.org/desk

go 1.26.0

require parley.example/client v0.1.4
