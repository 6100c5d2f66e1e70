// The guides are plain text, so that they only load styles.
import '../src/styles/tokens.css';
import './guide.css';
